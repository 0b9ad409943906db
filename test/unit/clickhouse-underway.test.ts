import { describe, expect, test } from 'vitest';
import { Underway } from '../../src/clickhouse/underway.ts';
import { epochMs, HOUR_MS, type Range } from '../../src/domain/time.ts';

const hours = (from: number, to: number): Range => ({
  from: epochMs(from * HOUR_MS),
  to: epochMs(to * HOUR_MS - 1),
});
/** Events of the hours 10 and 11, of sessions that began in hour 9. */
const SPAN = { app: 'a', events: hours(10, 12), sessions: hours(9, 10) };

describe('a flush underway', () => {
  test.each([
    { scope: { events: hours(11, 20), sessions: null }, touched: true },
    { scope: { events: hours(12, 20), sessions: null }, touched: false },
    { scope: { events: hours(0, 10), sessions: null }, touched: false },
    { scope: { events: null, sessions: hours(9, 10) }, touched: true },
    { scope: { events: null, sessions: hours(10, 20) }, touched: false },
    { scope: { events: hours(0, 9), sessions: hours(0, 11) }, touched: true },
    { scope: { events: null, sessions: null }, touched: false },
  ])('touches the answers about its hours: $scope', ({ scope, touched }) => {
    const underway = new Underway();
    const landed = underway.announce([SPAN]);
    expect(underway.touches('a', scope)).toBe(touched);
    expect(underway.touches('b', scope)).toBe(false);
    landed();
    expect(underway.touches('a', scope)).toBe(false);
  });

  test('counts by whole hours, as versions do', () => {
    const underway = new Underway();
    const at = epochMs(10 * HOUR_MS + 5);
    underway.announce([{ app: 'a', events: { from: at, to: at }, sessions: hours(9, 10) }]);
    const rest = { from: epochMs(at + 1), to: epochMs(at + 2) };
    expect(underway.touches('a', { events: rest, sessions: null })).toBe(true);
  });

  test('is announced until its own end, whatever other flushes end', () => {
    const underway = new Underway();
    const [first, second] = [underway.announce([SPAN]), underway.announce([{ ...SPAN }])];
    const scope = { events: hours(10, 11), sessions: null };
    first();
    expect(underway.touches('a', scope)).toBe(true);
    second();
    expect(underway.touches('a', scope)).toBe(false);
  });

  test('may be of any app and time if neither is known', () => {
    const underway = new Underway();
    const landed = underway.announce(null);
    expect(underway.touches('b', { events: hours(0, 1), sessions: null })).toBe(true);
    landed();
    expect(underway.touches('b', { events: hours(0, 1), sessions: null })).toBe(false);
  });

  test('has a last event, unless its events are not known', () => {
    const underway = new Underway();
    expect(underway.last('a')).toBe(0);
    const landed = underway.announce([SPAN, { ...SPAN, events: hours(11, 13) }]);
    expect(underway.last('a')).toBe(13 * HOUR_MS - 1);
    expect(underway.last('b')).toBe(0);
    landed();
    expect(underway.last('a')).toBe(0);
    underway.announce(null);
    expect(underway.last('a')).toBeNull();
  });
});
