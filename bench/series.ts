import { histogramOf } from './histogram.ts';
import type { Case } from './result/schema.ts';
import { percentile, runsFor } from './statistics.ts';

/** A percentile of a case's runs, or of all its latencies. `enough` is false if there are too few for it. */
export interface Percentile {
  readonly value: number;
  readonly enough: boolean;
  readonly count: number;
}

export function percentileOf(
  { runs, histogram }: Pick<Case, 'runs' | 'histogram'>,
  share: number,
): Percentile {
  if (histogram === null) {
    return { value: percentile(runs, share), enough: runs.length >= runsFor(share), count: runs.length };
  }
  const all = histogramOf(histogram);
  const count = all.totalCount;
  return { value: all.getValueAtPercentile(share * 100) / 1000, enough: count >= runsFor(share), count };
}
