import { describe, expect, test } from 'vitest';
import type { Series } from '../../src/client/index.ts';
import { besides, type Moment, momentsOf } from '../../src/console/analytics/series.ts';
import {
  cutsOf,
  type INTERVALS,
  intervalOf,
  intervalsOf,
} from '../../src/console/analytics/view/interval.ts';
import { type PRESETS, type Range, rangeOf } from '../../src/console/analytics/view/range.ts';
import type { Zone } from '../../src/console/analytics/view/zone.ts';
import { at, minute, NOON, ZONES } from './console-times.ts';

describe('units of a chart', () => {
  test('a short range by hour, others by day; the chosen one if the range has room for it', () => {
    const unit = (preset: (typeof PRESETS)[number]) => intervalOf(rangeOf(preset, 'UTC', NOON), null);
    expect([unit('today'), unit('24h'), unit('7d'), unit('365d')]).toEqual(['hour', 'hour', 'day', 'day']);
    const today = rangeOf('today', 'UTC', NOON);
    expect(intervalsOf(today)).toEqual(['hour']);
    expect(intervalOf(today, 'month')).toBe('hour');
    const year = rangeOf('365d', 'UTC', NOON);
    expect(intervalsOf(year)).toEqual(['day', 'week', 'month']);
    expect([intervalOf(year, 'month'), intervalOf(year, 'hour')]).toEqual(['month', 'day']);
  });

  test('units that are cut, or not over yet', () => {
    const cuts = (
      preset: (typeof PRESETS)[number],
      zone: Zone,
      interval: (typeof INTERVALS)[number] = 'day',
    ) => cutsOf(rangeOf(preset, zone, NOON), interval, zone, NOON);
    expect(cuts('7d', 'UTC')).toEqual({ first: false, last: true });
    expect(cuts('7d', 'Asia/Tehran')).toEqual({ first: false, last: true });
    expect(cuts('yesterday', 'Asia/Tehran')).toEqual({ first: false, last: false });
    expect(cuts('24h', 'UTC')).toEqual({ first: true, last: true });
    // The 14th is a Saturday.
    expect(cuts('7d', 'UTC', 'week')).toEqual({ first: true, last: true });
    const october = { from: minute('2026-10-01T00:00'), to: minute('2026-10-31T23:59') };
    for (const zone of ZONES) {
      expect(cutsOf(rangeOf(october, zone, NOON), 'month', zone, NOON)).toEqual({
        first: false,
        last: false,
      });
    }
  });

  /** The days at which units begin, and those of the other period beside them. */
  const beside = (
    current: readonly [Range, ...string[]],
    other: readonly [Range, ...string[]],
    interval: (typeof INTERVALS)[number],
    now = NOON,
  ) => {
    const course = ([range, ...starts]: readonly [Range, ...string[]]) => ({
      range,
      moments: starts.map((start): Moment => ({ at: at(`${start}Z`), values: null })),
    });
    const found = besides(course(current), course(other), { interval, zone: 'UTC', now });
    return found.map((moment) =>
      moment === undefined ? null : new Date(moment.at).toISOString().slice(0, 16),
    );
  };
  const span = (from: string, to: string): Range => ({ from: at(`${from}Z`), to: at(`${to}Z`) - 1 });

  test('whole units stand beside whole ones; a part stands beside the same part alone', () => {
    // From a Monday on, 16 days; before that from a Saturday on.
    const weeks = ['2026-10-05T00:00', '2026-10-12T00:00', '2026-10-19T00:00'] as const;
    const earlier = ['2026-09-14T00:00', '2026-09-21T00:00', '2026-09-28T00:00'] as const;
    expect(
      beside(
        [span('2026-10-05T00:00', '2026-10-21T00:00'), ...weeks],
        [span('2026-09-19T00:00', '2026-10-05T00:00'), ...earlier],
        'week',
      ),
    ).toEqual(['2026-09-21T00:00', '2026-09-28T00:00', null]);
    expect(
      beside(
        [span('2026-09-19T00:00', '2026-10-05T00:00'), ...earlier],
        [span('2026-10-05T00:00', '2026-10-21T00:00'), ...weeks],
        'week',
      ),
    ).toEqual([null, '2026-10-05T00:00', '2026-10-12T00:00']);
    // November against the 30 days before it, which are no month.
    expect(
      beside(
        [span('2026-11-01T00:00', '2026-12-01T00:00'), '2026-11-01T00:00'],
        [span('2026-10-02T00:00', '2026-11-01T00:00'), '2026-10-01T00:00'],
        'month',
        at('2026-12-05T00:00Z'),
      ),
    ).toEqual([null]);
  });

  test('today so far stands beside as much of another day', () => {
    const days = ['2026-11-18T00:00', '2026-11-19T00:00', '2026-11-20T00:00'] as const;
    const earlier = ['2026-11-15T00:00', '2026-11-16T00:00', '2026-11-17T00:00'] as const;
    const range = span('2026-11-18T00:00', '2026-11-21T00:00');
    const now = NOON + 20_000;
    expect(
      beside([range, ...days], [span('2026-11-15T00:00', '2026-11-17T12:00'), ...earlier], 'day', now),
    ).toEqual([...earlier]);
    expect(
      beside([range, ...days], [span('2026-11-15T00:00', '2026-11-17T09:00'), ...earlier], 'day', now),
    ).toEqual([earlier[0], earlier[1], null]);
    // Both begin at 10:00.
    expect(
      beside(
        [span('2026-11-18T10:00', '2026-11-20T00:00'), days[0], days[1]],
        [span('2026-11-15T10:00', '2026-11-17T00:00'), earlier[0], earlier[1]],
        'day',
      ),
    ).toEqual([earlier[0], earlier[1]]);
  });

  test('times to come have no value, nor have those before the first session', () => {
    const figures = { sessions: 1 } as Series['points'][number];
    const points = ['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21'].map((date) => ({
      ...figures,
      start: `${date}T00:00:00.000Z`,
    }));
    const series: Series = { interval: 'day', timezone: 'UTC', points };
    const known = momentsOf(series, NOON, at('2026-11-19T23:00Z')).map(({ values }) => values !== null);
    expect(known).toEqual([false, true, true, false]);
  });
});
