import { expect, test } from 'vitest';
import { inProcessLocks } from '../../src/domain/locks.ts';
import { epochMs } from '../../src/domain/time.ts';
import { monotonicVersions } from '../../src/metadata/versions.ts';

test('versions rise within one millisecond, when the clock steps back, and above versions read from the store', () => {
  let now = epochMs(1_000);
  const next = monotonicVersions(() => now);
  const first = next();
  const second = next();
  now = epochMs(500);
  const third = next();
  const fourth = next(5_000_000);
  now = epochMs(6_000);
  const fifth = next();
  expect([first, second, third, fourth, fifth]).toEqual([
    1_000_000, 1_000_001, 1_000_002, 5_000_001, 6_000_000,
  ]);
});

test('a lock has one holder at a time, in order, also after one that threw', async () => {
  const locks = inProcessLocks();
  const order: string[] = [];
  const work = (name: string, fails = false) =>
    locks.withLock('door', async () => {
      order.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} out`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([work('a'), work('b', true), work('c')]);
  expect(order).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('locks of different names do not wait for each other', async () => {
  const locks = inProcessLocks();
  const inner = locks.withLock('a', () => locks.withLock('b', async () => 'both'));
  expect(await inner).toBe('both');
});
