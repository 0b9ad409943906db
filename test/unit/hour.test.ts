import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Hour } from '../../src/analytics/memory/hour.ts';
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

test('any part of an hour has exactly the rows in it, and what came before each', async () => {
  await forAll(fc.tuple(fc.array(row), part), ([rows, { start, end }]) => {
    const keys = [...new Set(rows.map(({ key }) => key))];
    const hour = new Hour(START, {
      keys,
      times: rows.map(({ at }) => at),
      keyNumbers: rows.map(({ key }) => 1 + keys.indexOf(key)),
      others: [rows.map(({ other }) => other)],
      repeats: rows.map(({ other }) => 2 + other),
    });
    const [first, last] = hour.rowsIn({ start, end });
    const found = Array.from({ length: last - first }, (_, i) => first + i);
    const inPart = rows.filter(({ at }) => START + at >= start && START + at < end);
    expect(
      found
        .map((i) => `${hour.times[i]} ${hour.keys[hour.keyOf[i] as number]} ${hour.others[0]?.[i]}`)
        .sort(),
    ).toEqual(inPart.map(({ at, key, other }) => `${START + at} ${key} ${other}`).sort());
    const counts = Object.fromEntries(hour.countByKey({ start, end }));
    const expected: Record<string, number> = {};
    for (const { key } of inPart) expected[key] = (expected[key] ?? 0) + 1;
    expect(counts).toEqual(expected);
    for (const counted of [hour.countAll({ start, end }), hour.countAll({ start, end })]) {
      expect(Object.fromEntries(counted)).toEqual(expected);
    }
    // What is in the part occurs there first where it did not occur in the part before.
    const firsts = found.filter((i) => (hour.before[i] as number) < start);
    const different = new Set(inPart.map(({ key, other }) => `${key} ${other}`));
    expect(firsts.map((i) => `${keys[hour.keyOf[i] as number]} ${hour.others[0]?.[i]}`).sort()).toEqual(
      [...different].sort(),
    );
  });
});
