import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Hour } from '../../src/analytics/hour.ts';
import { forAll } from '../support/random.ts';

const HOUR = 3_600_000;
const START = 495_000 * HOUR;

const instant = fc.oneof(
  fc.integer({ min: 0, max: HOUR - 1 }),
  fc.integer({ min: 0, max: 3_599 }).map((second) => second * 1_000),
);
const row = fc.record({
  at: instant,
  key: fc.constantFrom('a', 'b', 'c'),
  other: fc.integer({ min: -1, max: 9 }),
});
const part = fc
  .tuple(instant, fc.oneof(instant, fc.constant(HOUR)))
  .map(([a, b]) => ({ start: START + Math.min(a, b), end: START + Math.max(a, b) }));

test('any part of an hour visits exactly the rows in it', async () => {
  await forAll(fc.tuple(fc.array(row), part), ([rows, { start, end }]) => {
    const byKey = grouped(rows);
    const hour = new Hour(START, byKey, 1);
    const visited: string[] = [];
    hour.forEach({ start, end }, (i) => {
      visited.push(`${hour.rows[i]} ${hour.keys[hour.rows[i + 1] as number]} ${hour.rows[i + 2]}`);
    });
    const inPart = rows.filter(({ at }) => START + at >= start && START + at < end);
    expect(visited.sort()).toEqual(
      inPart.map(({ at, key, other }) => `${START + at} ${key} ${other}`).sort(),
    );
    const counts = Object.fromEntries(hour.countByKey({ start, end }));
    const expected: Record<string, number> = {};
    for (const { key } of inPart) expected[key] = (expected[key] ?? 0) + 1;
    expect(counts).toEqual(expected);
    for (const counted of [hour.countAll({ start, end }), hour.countAll({ start, end })]) {
      expect(Object.fromEntries(counted)).toEqual(expected);
    }
  });
});

function grouped(rows: readonly { readonly at: number; readonly key: string; readonly other: number }[]) {
  const byKey = new Map<string, number[]>();
  for (const { at, key, other } of rows) byKey.set(key, [...(byKey.get(key) ?? []), at, other]);
  return [...byKey];
}
