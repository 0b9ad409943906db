import { DAY_MS, type EpochMs, EVER, epochMs } from './time.ts';

/** RFC 3339's date-time, seconds optional, any number of decimals. */
const FORM = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(?:Z|([+-])(\d{2}):(\d{2}))$/;

/** Why a text is no instant: another form, a date or time that does not exist, or one outside of 1970 to 2299. */
type Fault = 'form' | 'absent' | 'beyond';

export const hasFormOfDateTime = (text: string): boolean => FORM.test(text);

/** Returns an RFC 3339 date-time as epoch ms, or why it is none. `finer`: the ms to add for digits beyond the ms. */
export function parseDateTime(text: string, finer: 0 | 1): EpochMs | Fault {
  const match = FORM.exec(text);
  if (match === null) return 'form';
  const [, year, month, day, hour, minute, second = '0', decimals = '', sign, offsetHour, offsetMinute] =
    match;
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  const [oh, om] = [Number(offsetHour ?? 0), Number(offsetMinute ?? 0)];
  const midnight = midnightOf(Number(year), Number(month), Number(day));
  if (midnight === null || h > 23 || m > 59 || s > 59 || oh > 23 || om > 59) return 'absent';
  const offset = (sign === '-' ? -1 : 1) * (oh * 60 + om);
  const minutes = h * 60 + m - offset;
  const whole = midnight + (minutes * 60 + s) * 1000 + Number(decimals.slice(0, 3).padEnd(3, '0'));
  const at = /[1-9]/.test(decimals.slice(3)) ? whole + finer : whole;
  return whole < EVER.from || at > EVER.to ? 'beyond' : epochMs(at);
}

/** Returns midnight UTC of a date; null if it does not exist. */
function midnightOf(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  // `Date.UTC` takes the years up to 99 for those from 1900 on.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
    ? Math.floor(date.getTime() / DAY_MS) * DAY_MS
    : null;
}
