import { hasFormOfDateTime, parseDateTime } from '../domain/date-time.ts';
import type { EpochMs } from '../domain/time.ts';

const EXAMPLE = 'Send for example 2026-11-20T07:16:00Z or 2026-11-20T10:46:00.250+03:30.';

/** The direction in which an instant finer than a millisecond is rounded. A range never grows by rounding. */
export type Rounding = 'up' | 'down';

/** Parses a timestamp, or says in `problem` what to send instead. */
export function parseTimestamp(
  text: string,
  rounding: Rounding,
): { readonly at: EpochMs } | { readonly problem: string } {
  const at = parseDateTime(text, rounding === 'up' ? 1 : 0);
  if (at === 'form') return { problem: explain(text) };
  if (at === 'absent') return { problem: `No such date or time. ${EXAMPLE}` };
  if (at === 'beyond') return { problem: 'Must lie from 1970 to 2299.' };
  return { at };
}

function explain(text: string): string {
  if (hasFormOfDateTime(text.replace(/ (?=\d{2}:\d{2}$)/, '+'))) {
    return 'A + in a query string means a space: send the offset as %2B, for example 10:46:00%2B03:30.';
  }
  if (/^\d{4}-\d{2}-\d{2}$/.test(text))
    return `A date alone is ambiguous: add a time and an offset or Z. ${EXAMPLE}`;
  if (hasFormOfDateTime(`${text}Z`))
    return `A time without an offset is ambiguous: add Z or an offset. ${EXAMPLE}`;
  if (hasFormOfDateTime(text.toUpperCase().replace(' ', 'T')))
    return `T and Z must be upper case. ${EXAMPLE}`;
  return `Must be an ISO 8601 date-time with an offset or Z. ${EXAMPLE}`;
}
