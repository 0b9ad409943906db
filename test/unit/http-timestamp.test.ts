import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTimestamp } from '../../src/endpoints/timestamp.ts';
import { forAll } from '../support/random.ts';

const at = (text: string, rounding: 'up' | 'down' = 'down'): string | null => {
  const result = parseTimestamp(text, rounding);
  return 'at' in result ? new Date(result.at).toISOString() : null;
};
const problem = (text: string): string => {
  const result = parseTimestamp(text, 'down');
  return 'problem' in result ? result.problem : '';
};

describe('parseTimestamp', () => {
  test('offsets, optional seconds, any number of decimals', () => {
    expect(at('2026-11-20T07:16:00Z')).toBe('2026-11-20T07:16:00.000Z');
    expect(at('2026-11-20T07:16Z')).toBe('2026-11-20T07:16:00.000Z');
    expect(at('2026-11-20T10:46:00.250+03:30')).toBe('2026-11-20T07:16:00.250Z');
    expect(at('2026-11-20T00:00:00.5-00:00')).toBe('2026-11-20T00:00:00.500Z');
    expect(at('2024-02-29T23:59:59-23:59')).toBe('2024-03-01T23:58:59.000Z');
  });

  test('finer than a millisecond: from up, to down', () => {
    expect(at('2026-01-01T00:00:00.0001Z', 'up')).toBe('2026-01-01T00:00:00.001Z');
    expect(at('2026-01-01T00:00:00.0009Z', 'down')).toBe('2026-01-01T00:00:00.000Z');
    expect(at('2025-12-31T23:59:59.99900000001Z', 'up')).toBe('2026-01-01T00:00:00.000Z');
    expect(at('2026-01-01T00:00:00.001000000Z', 'up')).toBe('2026-01-01T00:00:00.001Z');
  });

  test('from 1970 to 2299', () => {
    expect(at('1970-01-01T00:00:00Z')).toBe('1970-01-01T00:00:00.000Z');
    expect(at('1969-12-31T23:59:59.999Z')).toBeNull();
    expect(at('1970-01-01T00:00:00+00:01')).toBeNull();
    expect(at('1969-12-31T23:59:59.9999Z', 'up')).toBeNull();
    expect(at('2299-12-31T23:59:59.9999Z')).toBe('2299-12-31T23:59:59.999Z');
    expect(at('2300-01-01T00:00:00Z')).toBeNull();
    expect(problem('2300-01-01T00:00:00Z')).toContain('1970 to 2299');
    expect(at('0000-01-01T00:00:00Z')).toBeNull();
  });

  test('instants that do not exist', () => {
    const none = ['2026-02-29', '2026-13-01', '2026-00-10', '2026-04-31', '2026-01-00'].map(
      (day) => `${day}T00:00:00Z`,
    );
    const times = ['24:00:00Z', '23:60:00Z', '23:59:60Z', '00:00:00+24:00', '00:00:00+00:60'];
    for (const text of [...none, ...times.map((time) => `2026-01-01T${time}`)]) {
      expect(problem(text)).toMatch(/^No such date or time/);
    }
  });

  test('the message names the valid form', () => {
    expect(problem('2026-11-20T10:46:00 03:30')).toContain('%2B');
    expect(problem('2026-11-20')).toMatch(/^A date alone is ambiguous/);
    expect(problem('2026-11-20T10:46:00')).toMatch(/^A time without an offset is ambiguous/);
    expect(problem('2026-11-20t10:46:00z')).toMatch(/^T and Z must be upper case/);
    for (const text of [
      '',
      'now',
      '1763622960',
      '2026-11-20T10:46:00.Z',
      '2026-11-20T10:46:00+0330',
      ' 2026-11-20T10:46Z',
    ]) {
      expect(problem(text)).toMatch(/^Must be an ISO 8601 date-time/);
    }
  });

  test('every instant in every offset is parsed back', async () => {
    const instants = fc.integer({ min: 0, max: Date.UTC(2300, 0, 1) - 1 });
    const offsets = fc.integer({ min: -1439, max: 1439 });
    await forAll(fc.tuple(instants, offsets), ([instant, offset]) => {
      const local = new Date(instant + offset * 60_000).toISOString();
      // toISOString has another form beyond the year 9999 and before 0; these instants are far from both.
      const minutes = Math.abs(offset);
      const pad = (n: number) => String(n).padStart(2, '0');
      const zone = `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
      expect(parseTimestamp(local.replace('Z', zone), 'up')).toEqual({ at: instant });
    });
  });
});
