import { describe, expect, test } from 'vitest';
import { trendOf, verdictOf } from '../../bench/trend.ts';
import { randomFrom } from '../support/generate-traffic.ts';

type Points = readonly (readonly [number, number])[];

const series = (n: number, valueAt: (i: number) => number): Points =>
  Array.from({ length: n }, (_, i) => [i, valueAt(i)]);

test('the slope is the median of all pairs: an outlier does not move it', () => {
  const straight = series(20, (i) => 5 + 2 * i);
  expect(trendOf(straight)).toEqual({ slope: 2, low: 2, high: 2 });
  const withOutlier = straight.map(([at, value]) => [at, at === 10 ? 1_000 : value] as const);
  expect(trendOf(withOutlier)?.slope).toBe(2);
  expect(verdictOf(trendOf(withOutlier))).toBe('rises');
});

test('too few points have no trend, and equal ones have none either', () => {
  expect(trendOf(series(7, (i) => i))).toBeNull();
  expect(verdictOf(null)).toBe('too few stretches');
  const flat = trendOf(series(20, () => 64));
  expect(flat).toEqual({ slope: 0, low: 0, high: 0 });
  expect(verdictOf(flat)).toBe('within noise');
});

test('a slope below the allowed one is within the noise', () => {
  const growing = trendOf(series(20, (i) => i / 10));
  expect(verdictOf(growing)).toBe('rises');
  expect(verdictOf(growing, 0.11)).toBe('within noise');
  expect(verdictOf(trendOf(series(20, (i) => -i)))).toBe('falls');
});

describe('false alarms, in 400 series of 30 points', () => {
  const SERIES = 400;
  const alarms = (
    seed: number,
    valueAt: (random: () => number, last: number, i: number) => number,
  ): number => {
    const random = randomFrom(seed);
    const noise = (): number => random() + random() + random() - 1.5;
    let count = 0;
    for (let s = 0; s < SERIES; s++) {
      let last = 0;
      const points = series(30, (i) => {
        last = valueAt(noise, last, i);
        return last;
      });
      if (verdictOf(trendOf(points)) !== 'within noise') count++;
    }
    return count;
  };

  test('noise alone: about one in a hundred', () => {
    expect(alarms(1, (noise) => noise())).toBeLessThan(SERIES * 0.04);
  });

  test('neighbours that resemble each other: few', () => {
    expect(alarms(2, (noise, last) => 0.6 * last + noise())).toBeLessThan(SERIES * 0.06);
  });

  test('a drift as large as the noise over the whole is found', () => {
    expect(alarms(3, (noise, _, i) => noise() + i / 10)).toBeGreaterThan(SERIES * 0.95);
  });
});
