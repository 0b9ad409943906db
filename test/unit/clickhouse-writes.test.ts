import { expect, test } from 'vitest';
import { Writes } from '../../src/clickhouse/writes.ts';

test('the number of an app changes with each of its writes, and never comes back', () => {
  const writes = new Writes(2);
  const seen = new Map<string, Set<number>>();
  for (const app of ['a', 'b', 'a', 'c', 'c', 'a', 'd', 'b', 'e', 'a']) {
    const before = writes.stamp(app);
    const ended = writes.begin([app]);
    expect(writes.stamp(app)).toBeNull();
    ended();
    const after = writes.stamp(app);
    expect(after).not.toBe(before);
    const known = seen.get(app) ?? new Set();
    expect(known).not.toContain(after);
    seen.set(app, known.add(Number(after)));
  }
  const before = ['a', 'z'].map((app) => writes.stamp(app));
  writes.begin()();
  expect(['a', 'z'].map((app) => writes.stamp(app))).toEqual(before.map((stamp) => Number(stamp) + 1));
});
