import type { KpiMetrics, RangeParams, Series, SeriesParams } from '../../client/index.ts';
import type { Interval } from './view/interval.ts';
import type { Zone } from './view/zone.ts';

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
