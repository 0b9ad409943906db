import type { UserGrowthPoint } from '../../client/index.ts';
import type { Bucket } from './view/buckets.ts';
import { lengthOf, type Range } from './view/range.ts';
import type { Unit } from './view/units.ts';
import type { GrowthMetric } from './view/view.ts';
import { DAY_MS } from './view/zone.ts';

/** A place on the chart: a unit of the zone's clock, or a part of a short range. */
export interface Moment {
  readonly at: number;
  readonly kind: Unit | 'part';
  /** Null for a time to come, and for one before the first session. */
  readonly values: Readonly<Record<GrowthMetric, number>> | null;
}

/** A range of less than three days would be one or two points by day, so it is shown by parts. */
export const isByDay = (range: Range): boolean => lengthOf(range) >= 3 * DAY_MS;

/** A time without a value is one to come, or one before the first session of the app. */
export const momentsOfDays = (
  days: readonly UserGrowthPoint[],
  now: number,
  oldest: number,
): readonly Moment[] =>
  days.map(({ date, sessions, visitors, pageviews, clicks }) => {
    const at = Date.parse(date);
    const isKnown = at <= now && at + DAY_MS > oldest;
    return { at, kind: 'day', values: isKnown ? { sessions, visitors, pageviews, clicks } : null };
  });

export const momentsOfBuckets = (
  buckets: readonly Bucket[],
  kind: Moment['kind'],
  oldest: number,
): readonly Moment[] =>
  buckets.map(({ range, figures }) => ({
    at: range.from,
    kind,
    values: range.to < oldest ? null : figures,
  }));
