import { describe, expect, test } from 'vitest';
import { type AGAINST, periodAgainst } from '../../src/console/analytics/view/against.ts';
import {
  isLive,
  minutesOf,
  PRESETS,
  paramsOf,
  type Range,
  rangeOf,
  rangeProblem,
} from '../../src/console/analytics/view/range.ts';
import { DEFAULT_VIEW } from '../../src/console/analytics/view/view.ts';
import { at, minute, NOON, ZONES } from './console-times.ts';

describe('ranges', () => {
  test.each([
    ['today', 'UTC', '2026-11-20T00:00:00.000Z', '2026-11-20T23:59:59.999Z'],
    ['today', 'Asia/Tehran', '2026-11-19T20:30:00.000Z', '2026-11-20T20:29:59.999Z'],
    ['yesterday', 'UTC', '2026-11-19T00:00:00.000Z', '2026-11-19T23:59:59.999Z'],
    ['24h', 'UTC', '2026-11-19T13:00:00.000Z', '2026-11-20T12:59:59.999Z'],
    ['24h', 'Asia/Tehran', '2026-11-19T12:30:00.000Z', '2026-11-20T12:29:59.999Z'],
    ['7d', 'UTC', '2026-11-14T00:00:00.000Z', '2026-11-20T23:59:59.999Z'],
    ['28d', 'Asia/Tehran', '2026-10-23T20:30:00.000Z', '2026-11-20T20:29:59.999Z'],
    ['365d', 'UTC', '2025-11-21T00:00:00.000Z', '2026-11-20T23:59:59.999Z'],
  ] as const)('%s in %s', (preset, zone, from, to) => {
    expect(paramsOf(rangeOf(preset, zone, NOON))).toEqual({ from, to });
  });

  test('two minutes are both inclusive', () => {
    const choice = { from: minute('2026-11-20T10:00'), to: minute('2026-11-20T10:00') };
    expect(paramsOf(rangeOf(choice, 'Asia/Tehran', NOON))).toEqual({
      from: '2026-11-20T06:30:00.000Z',
      to: '2026-11-20T06:30:59.999Z',
    });
  });

  /** The bounds of the period to compare with, without seconds. */
  const against = (range: Range, choice: Partial<Parameters<typeof periodAgainst>[1]>, now = NOON) => {
    const period = periodAgainst(range, { ...DEFAULT_VIEW, ...choice }, now);
    if (period === null) return null;
    expect((period.to + 1) % 60_000).toBe(0);
    return [period.from, period.to + 1].map((each) => new Date(each).toISOString().slice(0, 16));
  };

  test('the period before is as long; of a range that is not over as much as has passed', () => {
    expect(against(rangeOf('yesterday', 'UTC', NOON), {})).toEqual(['2026-11-18T00:00', '2026-11-19T00:00']);
    expect(against(rangeOf('today', 'UTC', NOON), {})).toEqual(['2026-11-19T00:00', '2026-11-19T12:00']);
    expect(against(rangeOf('7d', 'UTC', NOON), {})).toEqual(['2026-11-07T00:00', '2026-11-13T12:00']);
    expect(against(rangeOf('24h', 'UTC', NOON), {})).toEqual(['2026-11-18T13:00', '2026-11-19T12:00']);
    // In the first minute there is one minute to compare.
    const midnight = at('2026-11-20T00:00:10Z');
    expect(against(rangeOf('today', 'UTC', midnight), {}, midnight)).toEqual([
      '2026-11-19T00:00',
      '2026-11-19T00:01',
    ]);
  });

  test('the day before a change of the clocks is compared by the clock', () => {
    const now = at('2026-10-26T11:00Z');
    const berlin = { zone: 'Europe/Berlin' };
    // Sunday had 25 hours. Monday noon stands beside Sunday noon.
    expect(against(rangeOf('today', 'Europe/Berlin', now), berlin, now)).toEqual([
      '2026-10-24T22:00',
      '2026-10-25T11:00',
    ]);
  });

  test('a week with a change of the clocks is compared with the week before', () => {
    const newYork = { zone: 'America/New_York' };
    const now = at('2026-11-06T15:00Z');
    const week = { from: minute('2026-10-30T00:00'), to: minute('2026-11-05T23:59') };
    const bounds = ['2026-10-23T04:00', '2026-10-30T04:00'];
    for (const kind of ['weekday', 'previous'] as const) {
      expect(against(rangeOf(week, newYork.zone, now), { ...newYork, against: kind }, now)).toEqual(bounds);
    }
  });

  test('a day that begins at 01:00 is a day', () => {
    const cairo = { zone: 'Africa/Cairo' };
    const now = at('2026-06-01T12:00Z');
    const days = (from: string, to: string, kind: (typeof AGAINST)[number]) =>
      against(
        rangeOf({ from: minute(`${from}T00:00`), to: minute(`${to}T23:59`) }, cairo.zone, now),
        { ...cairo, against: kind },
        now,
      );
    // Clocks went forward at the midnight of 24 April.
    expect(days('2026-04-24', '2026-04-24', 'previous')).toEqual(['2026-04-22T22:00', '2026-04-23T22:00']);
    expect(days('2026-04-24', '2026-04-24', 'weekday')).toEqual(['2026-04-16T22:00', '2026-04-17T22:00']);
    expect(days('2026-04-24', '2026-04-24', 'year')).toEqual(['2025-04-23T22:00', '2025-04-24T22:00']);
    expect(days('2026-04-25', '2026-04-25', 'previous')).toEqual(['2026-04-23T22:00', '2026-04-24T21:00']);
    expect(days('2026-04-17', '2026-04-23', 'weekday')).toEqual(['2026-04-09T22:00', '2026-04-16T22:00']);
    expect(days('2026-04-24', '2026-04-30', 'previous')).toEqual(['2026-04-16T22:00', '2026-04-23T22:00']);
  });

  test('the same weekdays, the year before, a period of one’s own, or none', () => {
    const today = rangeOf('today', 'UTC', NOON);
    expect(against(today, { against: 'weekday' })).toEqual(['2026-11-13T00:00', '2026-11-13T12:00']);
    expect(against(rangeOf('28d', 'UTC', NOON), { against: 'weekday' })?.[0]).toBe('2026-09-26T00:00');
    expect(against(rangeOf('90d', 'UTC', NOON), { against: 'weekday' })?.[0]).toBe('2026-05-24T00:00');
    expect(against(today, { against: 'year' })).toEqual(['2025-11-20T00:00', '2025-11-20T12:00']);
    const leap = at('2024-02-29T12:00Z');
    expect(against(rangeOf('today', 'UTC', leap), { against: 'year' }, leap)?.[0]).toBe('2023-02-28T00:00');
    const againstMinutes = { from: minute('2026-11-02T00:00'), to: minute('2026-11-02T23:59') };
    const custom = { against: 'custom', againstMinutes } as const;
    expect(against(today, custom)).toEqual(['2026-11-02T00:00', '2026-11-02T12:00']);
    expect(against(rangeOf('7d', 'UTC', NOON), custom)).toEqual(['2026-11-02T00:00', '2026-11-03T00:00']);
    expect(against(today, { against: 'none' })).toBeNull();
  });

  test('a range is live while now is in it', () => {
    for (const preset of PRESETS)
      expect(isLive(rangeOf(preset, 'UTC', NOON), NOON)).toBe(preset !== 'yesterday');
    const coming = { from: minute('2026-12-01T00:00'), to: minute('2026-12-02T00:00') };
    expect(isLive(rangeOf(coming, 'UTC', NOON), NOON)).toBe(false);
  });

  test('the days of data are whole, and at most those that can be shown', () => {
    expect(minutesOf(at('2026-11-18T21:00Z'), NOON, 'Asia/Tehran')).toEqual({
      from: '2026-11-19T00:00',
      to: '2026-11-20T23:59',
    });
    for (const zone of ZONES) {
      const most = minutesOf(at('1999-01-01T00:00Z'), NOON, zone);
      expect([most.to, rangeProblem(most)]).toEqual(['2026-11-20T23:59', null]);
    }
  });

  test('reversed and endless ranges are told apart', () => {
    const problem = (from: string, to: string) => rangeProblem({ from: minute(from), to: minute(to) });
    expect(problem('2026-11-20T10:01', '2026-11-20T10:00')).toBe('reversed');
    expect(problem('2010-01-01T00:00', '2026-11-20T10:00')).toBe('long');
    expect(problem('2026-11-20T10:00', '2026-11-20T10:00')).toBeNull();
  });
});
