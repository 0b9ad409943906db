import { type EpochMs, epochMs } from '../domain/time.ts';

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d):(\d\d))$/;
const EARLIEST = 0;
/** The last instant of 2299, the end of what the store's DateTime64 holds. */
const LATEST = Date.UTC(2300, 0, 1) - 1;

/**
 * An RFC 3339 date-time as epoch ms, or null when it is none or lies outside 1970 to 2299. What is finer than a
 * millisecond is cut off, for session starts and events alike, so that their order holds.
 */
export function parseInstant(text: string): EpochMs | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second = '0', decimals = '', sign, offsetHour, offsetMinute] =
    match;
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  const [oh, om] = [Number(offsetHour ?? 0), Number(offsetMinute ?? 0)];
  if (h > 23 || m > 59 || s > 59 || oh > 23 || om > 59) return null;
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const date = new Date(midnight);
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  const local = midnight + ((h * 60 + m) * 60 + s) * 1000 + Number(decimals.slice(0, 3).padEnd(3, '0'));
  const at = local - (sign === '-' ? -1 : 1) * (oh * 60 + om) * 60_000;
  return at < EARLIEST || at > LATEST ? null : epochMs(at);
}
