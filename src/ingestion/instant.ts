import { type EpochMs, EVER, epochMs } from '../domain/time.ts';

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d):(\d\d))$/;

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
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second = '0', decimals = '', sign, offsetHour, offsetMinute] =
    match;
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  const [oh, om] = [Number(offsetHour ?? 0), Number(offsetMinute ?? 0)];
  if (h > 23 || m > 59 || s > 59 || oh > 23 || om > 59) return null;
  // `Date.UTC` takes the years up to 99 for those from 1900 on.
  if (Number(year) < 100) return null;
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const date = new Date(midnight);
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  const local = midnight + ((h * 60 + m) * 60 + s) * 1000 + Number(decimals.slice(0, 3).padEnd(3, '0'));
  const at = local - (sign === '-' ? -1 : 1) * (oh * 60 + om) * 60_000;
  return at < EVER.from || at > EVER.to ? null : epochMs(at);
}
