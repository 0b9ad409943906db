import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DAY_MS,
  dayStart,
  HOUR_MS,
  hourStart,
  instantOf,
  wallAt,
  wallMinute,
  type Zone,
} from '../../src/console/analytics/view/zone.ts';
import { monthOf, weekdayOf } from '../../src/console/parts/calendar.ts';
import { at, minute, NOON, ZONES } from './console-times.ts';

describe('times in a zone', () => {
  test('Tehran is 3:30 ahead; in the summers until 2022 it was 4:30', () => {
    expect(wallAt(NOON, 'Asia/Tehran')).toBe('2026-11-20T15:30');
    expect(instantOf(minute('2026-07-01T00:00'), 'Asia/Tehran')).toBe(at('2026-06-30T20:30:00Z'));
    expect(instantOf(minute('2021-07-01T00:00'), 'Asia/Tehran')).toBe(at('2021-06-30T19:30:00Z'));
    expect(wallAt(at('2021-06-30T19:30:00Z'), 'Asia/Tehran')).toBe('2021-07-01T00:00');
  });

  test('a minute goes to an instant and back', () => {
    const minutes = fc.integer({
      min: at('2016-01-01T00:00Z') / 60_000,
      max: at('2035-01-01T00:00Z') / 60_000,
    });
    fc.assert(
      fc.property(minutes, fc.constantFrom<Zone>(...ZONES), (number, zone) => {
        const wall = wallAt(number * 60_000, zone);
        const back = wallAt(instantOf(wall, zone), zone);
        expect(back).toBe(wall);
      }),
    );
  });

  test('days and hours begin where the clocks of the zone say', () => {
    expect(dayStart(NOON, 'UTC')).toBe(at('2026-11-20T00:00Z'));
    expect(dayStart(at('2026-11-20T21:00Z'), 'Asia/Tehran')).toBe(at('2026-11-20T20:30Z'));
    expect(dayStart(NOON, 'Asia/Tehran', -1)).toBe(at('2026-11-18T20:30Z'));
    expect(hourStart(NOON, 'UTC')).toBe(NOON);
    expect(hourStart(NOON, 'Asia/Tehran')).toBe(NOON - HOUR_MS / 2);
    // Clocks went forward at this midnight: the day begins at 01:00.
    expect(dayStart(at('2021-03-22T12:00Z'), 'Asia/Tehran')).toBe(at('2021-03-21T20:30Z'));
    expect(dayStart(at('2021-03-21T12:00Z'), 'Asia/Tehran', 1)).toBe(at('2021-03-21T20:30Z'));
  });

  test.each(['', '2026-11-20', '2026-02-30T00:00', '2026-11-20T24:00', '2026-11-20T10:00Z'])(
    '%j is no minute',
    (text) => expect(wallMinute(text)).toBeNull(),
  );
});

test('months of the Solar Hijri calendar follow each other, with 29 to 31 days', () => {
  const first = at('2020-01-01') / DAY_MS;
  let month = monthOf(first, 'persian');
  for (let i = 0; i < 200; i++) {
    expect([29, 30, 31]).toContain(month.length);
    const next = monthOf(month.first + month.length, 'persian');
    expect(next.first).toBe(month.first + month.length);
    expect(monthOf(next.first - 1, 'persian')).toEqual(month);
    month = next;
  }
  expect(weekdayOf(at('2026-11-29') / DAY_MS)).toBe(7);
});
