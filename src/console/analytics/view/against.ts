import { instantsOf, lengthOf, type Minutes, type Range } from './range.ts';
import { DAY_MS, daysBefore, MINUTE_MS, wallAt, yearBefore, type Zone } from './zone.ts';

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
  const passed = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const end = range.from < now && now <= range.to ? Math.max(passed, range.from + MINUTE_MS) : range.to + 1;
  const period = { from: shift(range.from), to: shift(end) - 1 };
  return period.to < period.from ? { from: period.from, to: period.from + MINUTE_MS - 1 } : period;
}

/** Moves an instant of the range into the period; null if there is none. */
function shiftOf(range: Range, { against, againstMinutes, zone }: Choice): ((at: number) => number) | null {
  const days = lengthOf(range) / DAY_MS;
  switch (against) {
    case 'none':
      return null;
    case 'year':
      return (at) => yearBefore(at, zone);
    case 'weekday':
      return (at) => daysBefore(at, Math.ceil(days / 7) * 7, zone);
    case 'custom': {
      if (againstMinutes === null) return null;
      const { from, to } = instantsOf(againstMinutes, zone);
      return (at) => Math.min(from + (at - range.from), to + 1);
    }
    default: {
      // By the clock of the zone, where days can be of 23 or 25 hours.
      if (startsDay(range.from, zone) && startsDay(range.to + 1, zone)) {
        return (at) => daysBefore(at, Math.round(days), zone);
      }
      return (at) => at - lengthOf(range);
    }
  }
}

const startsDay = (at: number, zone: Zone): boolean => wallAt(at, zone).endsWith('T00:00');
