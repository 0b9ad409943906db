import { DAY_MS, type EpochMs, EVER, epochMs } from '../domain/time.ts';

/** RFC 3339's date-time, seconds optional, any number of decimals. */
const FORM = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(?:Z|([+-])(\d{2}):(\d{2}))$/;
const EXAMPLE = 'Send for example 2026-11-20T07:16:00Z or 2026-11-20T10:46:00.250+03:30.';

/** The direction in which an instant finer than a millisecond is rounded. A range never grows by rounding. */
export type Rounding = 'up' | 'down';

/** Parses a timestamp, or says in `problem` what to send instead. */
export function parseTimestamp(
  text: string,
  rounding: Rounding,
): { readonly at: EpochMs } | { readonly problem: string } {
  const match = FORM.exec(text);
  if (match === null) return { problem: explain(text) };
  const [, year, month, day, hour, minute, second = '0', decimals = '', sign, offsetHour, offsetMinute] =
    match;
  const inDay =
    Number(hour) <= 23 &&
    Number(minute) <= 59 &&
    Number(second) <= 59 &&
    Number(offsetHour ?? 0) <= 23 &&
    Number(offsetMinute ?? 0) <= 59;
  const midnight = dateMs(Number(year), Number(month), Number(day));
  if (!inDay || midnight === null) return { problem: `No such date or time. ${EXAMPLE}` };
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0));
  const whole =
    midnight +
    ((Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second)) * 1000 +
    Number(decimals.slice(0, 3).padEnd(3, '0'));
  const finer = /[1-9]/.test(decimals.slice(3));
  const at = whole + (finer && rounding === 'up' ? 1 : 0);
  if (whole < EVER.from || at > EVER.to) return { problem: 'Must lie from 1970 to 2299.' };
  return { at: epochMs(at) };
}

/** Returns midnight UTC of a date; null if it does not exist. */
function dateMs(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
    ? Math.floor(date.getTime() / DAY_MS) * DAY_MS
    : null;
}

function explain(text: string): string {
  if (FORM.test(text.replace(/ (?=\d{2}:\d{2}$)/, '+'))) {
    return 'A + in a query string means a space: send the offset as %2B, for example 10:46:00%2B03:30.';
  }
  if (/^\d{4}-\d{2}-\d{2}$/.test(text))
    return `A date alone is ambiguous: add a time and an offset or Z. ${EXAMPLE}`;
  if (FORM.test(`${text}Z`)) return `A time without an offset is ambiguous: add Z or an offset. ${EXAMPLE}`;
  if (FORM.test(text.toUpperCase().replace(' ', 'T'))) return `T and Z must be upper case. ${EXAMPLE}`;
  return `Must be an ISO 8601 date-time with an offset or Z. ${EXAMPLE}`;
}
