import { lengthOf, type Range } from './range.ts';
import { DAY_MS, startsDay, wallAt, type Zone } from './zone.ts';

/** The units of a chart, by the clock of the zone: weeks begin on Monday, months are Gregorian. */
export const INTERVALS = ['hour', 'day', 'week', 'month'] as const;
export type Interval = (typeof INTERVALS)[number];

/** The days that a range needs for a unit, and the most that it can have. */
const DAYS: Readonly<Record<Interval, readonly [more: number, most: number]>> = {
  hour: [0, 31],
  day: [1, Number.POSITIVE_INFINITY],
  week: [7, Number.POSITIVE_INFINITY],
  month: [28, Number.POSITIVE_INFINITY],
};
/** A shorter range would be one or two points by day. */
const LEAST_DAYS = 3;

/** The units in which a range can be shown. */
export function intervalsOf(range: Range): readonly Interval[] {
  const days = lengthOf(range) / DAY_MS;
  return INTERVALS.filter((each) => days > DAYS[each][0] && days <= DAYS[each][1]);
}

/** The unit in which a range is shown: the chosen one, if that is possible. */
export function intervalOf(range: Range, chosen: Interval | null): Interval {
  if (chosen !== null && intervalsOf(range).includes(chosen)) return chosen;
  return lengthOf(range) >= LEAST_DAYS * DAY_MS ? 'day' : 'hour';
}

/** Whether the first and the last unit are only partly in the range, or not over yet. */
export const cutsOf = (
  range: Range,
  interval: Interval,
  zone: Zone,
  now: number,
): { readonly first: boolean; readonly last: boolean } => ({
  first: !begins(range.from, interval, zone),
  last: range.to >= now || !begins(range.to + 1, interval, zone),
});

/** Whether a unit begins at an instant. */
function begins(at: number, interval: Interval, zone: Zone): boolean {
  const wall = wallAt(at, zone);
  if (interval === 'hour') return wall.endsWith(':00');
  if (!startsDay(at, zone)) return false;
  if (interval === 'week') return new Date(wall.slice(0, 10)).getUTCDay() === 1;
  return interval === 'day' || wall.slice(8, 10) === '01';
}
