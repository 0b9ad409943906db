import type { KpiMetrics } from '../../../client/index.ts';
import { lengthOf, type Range } from './range.ts';
import { DAY_MS } from './zone.ts';

/** The key figures of a part of a range; null for a part that has not begun. */
export interface Bucket {
  readonly range: Range;
  readonly figures: KpiMetrics<number> | null;
}

/** Parts of a range in general. 5 s is then the shortest: a range has whole minutes. */
const PARTS = 12;
const MOST_DAYS = 14;

/** Divides a range into parts of equal length: days if there are 3 to 14, otherwise 12 parts. */
export function bucketsOf(range: Range): readonly Range[] {
  const days = lengthOf(range) / DAY_MS;
  const count = Number.isInteger(days) && days >= 3 && days <= MOST_DAYS ? days : PARTS;
  const each = lengthOf(range) / count;
  return Array.from({ length: count }, (_, i) => ({
    from: range.from + i * each,
    to: range.from + (i + 1) * each - 1,
  }));
}

/** One question to overview/kpis: it counts a bucket, and the one before it as its `previous`. */
export interface Pair {
  readonly range: Range;
  /** The buckets' places; `previous` is null if there is none before. */
  readonly current: number;
  readonly previous: number | null;
}

/**
 * The questions that count all buckets, newest first. Buckets that have not begun are left out. Each answer has two
 * periods, so half as many questions as buckets are enough, and each figure is exact. `end` is the last ms that counts:
 * the bucket that it cuts is asked for alone.
 */
export function pairsOf(
  buckets: readonly Range[],
  now: number,
  end = Number.POSITIVE_INFINITY,
): readonly Pair[] {
  const begun = buckets.filter(({ from }) => from <= Math.min(now, end)).length;
  const pairs: Pair[] = [];
  const last = buckets[begun - 1];
  const isCut = last !== undefined && last.to > end;
  if (isCut) pairs.push({ range: { from: last.from, to: end }, current: begun - 1, previous: null });
  for (let current = begun - (isCut ? 2 : 1); current >= 0; ) {
    const [before, range] = [buckets[current - 1], buckets[current]];
    if (range === undefined) break;
    // The answer's `previous` is as long: a day of 23 hours, or a month, stands for itself.
    const isPair = before !== undefined && lengthOf(before) === lengthOf(range);
    pairs.push({ range, current, previous: isPair ? current - 1 : null });
    current -= isPair ? 2 : 1;
  }
  return pairs;
}
