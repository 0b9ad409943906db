import { describe, expect, test } from 'vitest';
import { maxStaleOf } from '../../src/http/answer/max-stale.ts';

describe('maxStaleOf', () => {
  test.each([
    ['max-stale=10', 10_000],
    ['max-stale', 60_000],
    ['MAX-STALE=0', 0],
    ['max-stale="7"', 7_000],
    ['max-age=0,  max-stale=5 , foo="bar"', 5_000],
    ['max-stale=3600', 3_600_000],
    ['max-stale=3601', 3_600_000],
    ['max-stale=99999999999999999999999', 3_600_000],
    ['max-stale=5, max-stale=9', 5_000],
  ])('%s', (header, ms) => {
    expect(maxStaleOf(header)).toBe(ms);
  });

  test.each([
    undefined,
    '',
    'max-age=10',
    'max-stale=',
    'max-stale=-1',
    'max-stale=1.5',
    'max-stale=1e3',
    'max-stale=0x10',
    'max-stale=ten',
    'max-stale=10s',
    'max-stale = 10',
    'max-stale="10',
    'max-stale=10;5',
    'max-staleness=10',
    'x-max-stale=10',
    'no-cache, max-stale=10',
    'max-stale=10, No-Store',
  ])('%s is ignored', (header) => {
    expect(maxStaleOf(header)).toBeNull();
  });
});
