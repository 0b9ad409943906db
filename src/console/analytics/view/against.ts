import { instantsOf, lengthOf, type Minutes, type Range } from './range.ts';
import {
  DAY_MS,
  dayStart,
  daysBefore,
  MINUTE_MS,
  startsDay,
  wallLength,
  yearBefore,
  type Zone,
} from './zone.ts';

/** The periods that changes can be against. */
export const AGAINST = ['previous', 'weekday', 'year', 'custom', 'none'] as const;
export type Against = (typeof AGAINST)[number];

interface Choice {
  readonly against: Against;
  readonly againstMinutes: Minutes | null;
  readonly zone: Zone;
}

/**
 * The period to compare a range with; null for none. While the range is not over, only as much of the period counts as of
 * the range has passed, to the minute: a part is never compared with a whole.
 */
export function periodAgainst(range: Range, choice: Choice, now: number): Range | null {
  const shift = shiftOf(range, choice);
  if (shift === null) return null;
  const period = { from: shift(range.from), to: shift(passedEnd(range, now)) - 1 };
  return period.to < period.from ? { from: period.from, to: period.from + MINUTE_MS - 1 } : period;
}

/** The end of what has passed of a range, exclusive: a whole minute. */
export function passedEnd(range: Range, now: number): number {
  if (now <= range.from || now > range.to) return range.to + 1;
  return Math.max(Math.floor(now / MINUTE_MS) * MINUTE_MS, range.from + MINUTE_MS);
}

/** Moves an instant of the range into the period; null if there is none. */
function shiftOf(range: Range, { against, againstMinutes, zone }: Choice): ((at: number) => number) | null {
  const areDays = startsDay(range.from, zone) && startsDay(range.to + 1, zone);
  const length = wallLength(range.from, range.to + 1, zone) / DAY_MS;
  // A first day that begins at 01:00 is a day, too.
  const days = areDays ? Math.round(length) : length;
  switch (against) {
    case 'none':
      return null;
    case 'year':
      return byDays((at) => yearBefore(at, zone), zone);
    case 'weekday':
      return byDays((at) => daysBefore(at, Math.ceil(days / 7) * 7, zone), zone);
    case 'custom': {
      if (againstMinutes === null) return null;
      const { from, to } = instantsOf(againstMinutes, zone);
      return (at) => Math.min(from + (at - range.from), to + 1);
    }
    default:
      // By the clock of the zone, where days can be of 23 or 25 hours.
      return areDays ? byDays((at) => daysBefore(at, days, zone), zone) : (at) => at - lengthOf(range);
  }
}

/** The start of a day goes to the start of a day, whatever the clocks show at both. */
const byDays =
  (shift: (at: number) => number, zone: Zone) =>
  (at: number): number =>
    startsDay(at, zone) ? dayStart(shift(at), zone) : shift(at);
