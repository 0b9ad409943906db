import { describe, expect, test } from 'vitest';
import { type Choice, rangeOf } from '../../src/console/analytics/view/range.ts';
import { type Step, stepped } from '../../src/console/analytics/view/step.ts';
import type { Zone } from '../../src/console/analytics/view/zone.ts';
import { at, minute, NOON, ZONES } from './console-times.ts';

const LONG_AGO = at('2020-01-01T00:00Z');
const step = (choice: Choice, by: Step, zone: Zone = 'UTC', oldest: number | null | undefined = LONG_AGO) =>
  stepped(choice, by, { zone, now: NOON, oldest });
const days = (from: string, to: string) => ({
  from: minute(`${from}T00:00`),
  to: minute(`${to}T23:59`),
});

describe('the period before and after', () => {
  test.each<[Choice, Choice | null, Choice | null]>([
    ['today', 'yesterday', null],
    ['yesterday', days('2026-11-18', '2026-11-18'), 'today'],
    ['7d', days('2026-11-07', '2026-11-13'), null],
    [days('2026-11-07', '2026-11-13'), days('2026-10-31', '2026-11-06'), '7d'],
    // Whole months, also the running one, and several of them.
    [days('2026-11-01', '2026-11-30'), days('2026-10-01', '2026-10-31'), null],
    [days('2026-03-01', '2026-03-31'), days('2026-02-01', '2026-02-28'), days('2026-04-01', '2026-04-30')],
    [days('2026-01-01', '2026-03-31'), days('2025-10-01', '2025-12-31'), days('2026-04-01', '2026-06-30')],
    [days('2024-01-01', '2024-12-31'), days('2023-01-01', '2023-12-31'), days('2025-01-01', '2025-12-31')],
    // Mehr 1404 has 30 days, Shahrivar 31, and Esfand 29.
    [days('2025-09-23', '2025-10-22'), days('2025-08-23', '2025-09-22'), days('2025-10-23', '2025-11-21')],
    [days('2026-02-20', '2026-03-20'), days('2026-01-21', '2026-02-19'), days('2026-03-21', '2026-04-20')],
    // Nearly a month.
    [days('2026-03-01', '2026-03-30'), days('2026-01-30', '2026-02-28'), days('2026-03-31', '2026-04-29')],
    [
      { from: minute('2026-11-19T10:30'), to: minute('2026-11-19T11:44') },
      { from: minute('2026-11-19T09:15'), to: minute('2026-11-19T10:29') },
      { from: minute('2026-11-19T11:45'), to: minute('2026-11-19T12:59') },
    ],
  ])('of %o', (choice, before, after) => {
    expect([step(choice, -1), step(choice, 1)]).toEqual([before, after]);
  });

  test('28 days that happen to be a month are 28 days', () => {
    const now = at('2026-02-28T12:00Z');
    expect(stepped('28d', -1, { zone: 'UTC', now, oldest: LONG_AGO })).toEqual(
      days('2026-01-04', '2026-01-31'),
    );
  });

  test('there and back is the same, in every zone', () => {
    for (const zone of ZONES) {
      for (const choice of ['yesterday', '24h', '28d', days('2026-10-20', '2026-11-02')] as const) {
        const back = step(choice, -1, zone);
        if (back === null) throw new Error('There is a period before.');
        expect([zone, step(back, 1, zone)]).toEqual([zone, choice]);
        expect(rangeOf(back, zone, NOON).to + 1).toBe(rangeOf(choice, zone, NOON).from);
      }
    }
  });

  test('a day with 25 hours is a day', () => {
    expect(step(days('2026-10-25', '2026-10-25'), -1, 'Europe/Berlin')).toEqual(
      days('2026-10-24', '2026-10-24'),
    );
    expect(step(days('2026-10-24', '2026-10-24'), 1, 'Europe/Berlin')).toEqual(
      days('2026-10-25', '2026-10-25'),
    );
  });

  test('none before the first data, and none without data; not yet known data may be there', () => {
    const oldest = at('2026-11-13T22:00Z');
    expect(step('7d', -1, 'UTC', oldest)).toEqual(days('2026-11-07', '2026-11-13'));
    expect(step('7d', -1, 'UTC', oldest + 2 * 3_600_000)).toBeNull();
    expect(step('7d', -1, 'UTC', null)).toBeNull();
    expect(step('7d', -1, 'UTC', undefined)).toEqual(days('2026-11-07', '2026-11-13'));
  });
});
