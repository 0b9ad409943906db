import { parseDateTime } from '../domain/date-time.ts';
import { type EpochMs, epochMs } from '../domain/time.ts';

/**
 * Returns an RFC 3339 date-time as epoch ms; null if the text is none or lies outside of 1970 to 2299. Digits
 * beyond the millisecond are cut off, for session starts and events alike, so that their order stays.
 */
export function parseInstant(text: string): EpochMs | null {
  return text.length === 24 && text.endsWith('Z') ? (parseUsual(text) ?? parseAny(text)) : parseAny(text);
}

/** The last parsed day and its first ms: consecutive events mostly share their day. */
let lastDay = '';
let lastMidnight = 0;

/** Parses the form that `Date.toISOString` writes, in a tenth of the time. Null for any other form. */
function parseUsual(text: string): EpochMs | null {
  const day = text.slice(0, 11);
  if (day !== lastDay) {
    const midnight = parseAny(`${day}00:00:00Z`);
    if (midnight === null) return null;
    lastDay = day;
    lastMidnight = midnight;
  }
  if (text[13] !== ':' || text[16] !== ':' || text[19] !== '.') return null;
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const second = digits(text, 17, 2);
  const ms = digits(text, 20, 3);
  // NaN, from something that is no digit, fails each comparison.
  if (!(hour < 24 && minute < 60 && second < 60 && ms < 1000)) return null;
  return epochMs(lastMidnight + hour * 3_600_000 + minute * 60_000 + second * 1_000 + ms);
}

function digits(text: string, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function parseAny(text: string): EpochMs | null {
  const at = parseDateTime(text, 0);
  return typeof at === 'string' ? null : at;
}
