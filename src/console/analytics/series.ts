import type { KpiMetrics, RangeParams, Series, SeriesParams } from '../../client/index.ts';
import { passedEnd } from './view/against.ts';
import { cutsOf, type Interval } from './view/interval.ts';
import type { Range } from './view/range.ts';
import { wallLength, type Zone } from './view/zone.ts';

/** A place on the chart: an hour, day, week or month of the zone's clock. */
export interface Moment {
  readonly at: number;
  /** Null for a time to come, and for one before the first session. */
  readonly values: KpiMetrics<number> | null;
}

export const seriesParams = (params: RangeParams, interval: Interval, timezone: Zone): SeriesParams => ({
  ...params,
  interval,
  timezone,
});

export function momentsOf({ points }: Series, now: number, oldest: number): readonly Moment[] {
  const starts = points.map(({ start }) => Date.parse(start));
  return points.map((values, i) => {
    const at = starts[i] ?? 0;
    const isKnown = at <= now && (starts[i + 1] ?? Number.POSITIVE_INFINITY) > oldest;
    return { at, values: isKnown ? values : null };
  });
}

/** What is on the chart: a period with its units. */
interface Course {
  readonly range: Range;
  readonly moments: readonly Moment[];
}

interface Calendar {
  readonly interval: Interval;
  readonly zone: Zone;
  readonly now: number;
}

/**
 * The units of the other period that stand beside those of the range: a whole one beside a whole one, and a part beside a
 * part that begins and ends at the same places of its unit. Undefined beside all others.
 */
export function besides(current: Course, other: Course, calendar: Calendar): readonly (Moment | undefined)[] {
  const parts = partsOf(current, calendar);
  const others = partsOf(other, calendar);
  // The first whole ones stand beside each other.
  const shift = Number(isFirstCut(other, calendar)) - Number(isFirstCut(current, calendar));
  return parts.map((part, i) => (others[i + shift] === part ? other.moments[i + shift] : undefined));
}

const isFirstCut = ({ range }: Course, { interval, zone, now }: Calendar): boolean =>
  cutsOf(range, interval, zone, now).first;

/** Which part of each unit counts. */
function partsOf({ range, moments }: Course, { interval, zone, now }: Calendar): readonly string[] {
  const cuts = cutsOf(range, interval, zone, now);
  const newest = moments.findLastIndex(({ at }) => at <= now);
  const end = passedEnd(range, now);
  return moments.map(({ at }, i) => {
    if (!(cuts.first && i === 0) && !(cuts.last && i === newest)) return 'whole';
    const until = Math.min(end, moments[i + 1]?.at ?? end);
    return `${wallLength(at, Math.max(at, range.from), zone)} ${wallLength(at, until, zone)}`;
  });
}
