import { expect, test } from 'vitest';
import { DAY_MS, epochMs, isoDay } from '../../src/domain/time.ts';

test('a day is written as toISOString does, from 1970 to 2299', () => {
  for (let at = 0; at < Date.UTC(2300, 0, 1); at += 13 * DAY_MS + 86_399) {
    expect(isoDay(epochMs(at))).toBe(new Date(at).toISOString().slice(0, 10));
  }
});
