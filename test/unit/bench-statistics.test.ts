import { describe, expect, test } from 'vitest';
import { histogramOf } from '../../bench/histogram.ts';
import { chanceOf, median, percentile, ratioInterval, runsFor } from '../../bench/statistics.ts';
import { Tally } from '../../bench/tally.ts';

const oneTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

test('a percentile is the nearest rank', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(percentile(oneTo(100), 0.99)).toBe(99);
  expect(percentile([], 0.5)).toBeNaN();
});

test('a percentile needs as many runs as make it differ from the largest', () => {
  expect([0.5, 0.9, 0.99, 0.999].map(runsFor)).toEqual([2, 10, 100, 1000]);
});

describe('the chance of a difference (Mann-Whitney)', () => {
  test('equal runs: certain', () => {
    expect(chanceOf([5, 5, 5, 5], [5, 5, 5, 5])).toBe(1);
    expect(chanceOf(oneTo(10), oneTo(10))).toBeGreaterThan(0.9);
  });

  test('values of published examples', () => {
    // SciPy's mannwhitneyu(…, method='asymptotic').
    expect(chanceOf([19, 22, 16, 29, 24], [20, 11, 17, 12])).toBeCloseTo(0.11135, 4);
    expect(chanceOf([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])).toBeCloseTo(0.012186, 4);
  });

  test('the order of the two does not matter', () => {
    const [a, b] = [
      [1, 4, 4, 9, 12],
      [2, 4, 8, 30],
    ] as const;
    expect(chanceOf(a, b)).toBeCloseTo(chanceOf(b, a), 12);
  });
});

test('the interval of a ratio holds it, and is the same each time', () => {
  const a = oneTo(30).map((n) => 100 + (n % 7));
  const b = a.map((value) => value * 1.5);
  const [low, high] = ratioInterval(a, b);
  expect(low).toBeLessThanOrEqual(1.5);
  expect(high).toBeGreaterThanOrEqual(1.5);
  expect(high - low).toBeLessThan(0.2);
  expect(ratioInterval(a, b)).toEqual([low, high]);
});

test('a tally keeps all latencies, and p99 only where there are enough answers', () => {
  const tally = new Tally(40_000);
  for (const ms of oneTo(1000)) tally.note(ms, ms % 10 === 0 ? 304 : 200);
  const { histogram, statuses, perSecond, p50Ms, p99Ms } = tally.outcome();
  const all = histogramOf(histogram);
  expect(all.totalCount).toBe(1000);
  expect(all.getValueAtPercentile(99) / 1000).toBeCloseTo(990, -1);
  expect(statuses).toEqual({ 200: 900, 304: 100 });
  expect(perSecond).toHaveLength(40);
  expect(perSecond.reduce((sum, count) => sum + count, 0)).toBe(1000);
  expect(p50Ms.length).toBeGreaterThan(0);
  const few = new Tally(40_000);
  few.note(1, 200);
  expect(few.outcome()).toMatchObject({ p50Ms: [1], p99Ms: [] });
  expect(p99Ms.length).toBeGreaterThan(0);
});
