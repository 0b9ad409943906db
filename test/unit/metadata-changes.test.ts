import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '../../src/clickhouse/database.ts';
import type { Changes } from '../../src/metadata/changes.ts';
import { FreshCache } from '../../src/metadata/fresh-cache.ts';
import { sharingOf } from '../../src/sharing/choose.ts';
import { deferred } from '../support/deferred.ts';

/** A store with one table of versions by key, and a cache in front of it. */
let stored: Map<string, number>;
let statements: string[];
/** The next statements wait for these promises, in turn. */
let delays: Promise<unknown>[];
let broken: 'fails' | 'hangs' | null;
let released: ReturnType<typeof deferred>;
let changes: Changes;
let cache: FreshCache<{ readonly version: number }>;

const statement = async <T>(name: string, answer: () => T): Promise<T> => {
  statements.push(name);
  const answered = answer();
  await delays.shift();
  if (broken === 'fails') throw new Error('store away');
  if (broken === 'hangs') await released.promise;
  return answered;
};
const store = {
  engine: 'server',
  rows: () =>
    statement('look', () => [...stored].map(([key, version]) => ['key', key.slice(0, 2), String(version)])),
} as unknown as Database;

/** Lets seconds pass; there is a look every 2 s. */
const pass = (seconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(seconds * 1000);
const reads = (): string[] => statements.filter((name) => name !== 'look');
const held = () => {
  const { promise, resolve } = deferred();
  delays.push(promise);
  return async () => {
    resolve();
    await pass(0);
  };
};
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  stored = new Map([
    ['aa 1', 1],
    ['bb 1', 1],
  ]);
  statements = [];
  delays = [];
  broken = null;
  released = deferred();
  changes = sharingOf(store).changes(() => performance.now());
  cache = new FreshCache({
    kind: 'key',
    changes,
    max: 10,
    load: (key) => statement(key, () => (stored.has(key) ? { version: stored.get(key) ?? 0 } : null)),
  });
});
afterEach(async () => {
  await changes.close();
  vi.useRealTimers();
});

/** Caches a value, as for a caller that polls. */
async function known(key = 'aa 1'): Promise<void> {
  await cache.get(key);
  await pass(2);
  statements = [];
}

test('values without a seen change are never read again, even if they are rarely used', async () => {
  await known();
  for (let minute = 0; minute < 10; minute++) {
    await pass(60);
    expect(await cache.get('aa 1')).toEqual({ version: 1 });
  }
  expect(reads()).toEqual([]);
});

test('a changed value is read before the next request, and no other value', async () => {
  await known();
  await known('bb 1');
  stored.set('aa 1', 2);
  await pass(2);
  expect(reads()).toEqual(['aa 1']);
  expect(await cache.get('aa 1')).toEqual({ version: 2 });
  stored.delete('aa 1');
  await pass(2);
  expect(await cache.get('bb 1')).toEqual({ version: 1 });
  expect(await cache.get('aa 1')).toBeNull();
  // A row that is gone is a change too.
  expect(reads()).toEqual(['aa 1', 'aa 1']);
});

test.each(['fails', 'hangs'] as const)('while the store %s, cached values expire', async (how) => {
  await known();
  await pass(2);
  stored.set('aa 1', 2);
  broken = how;
  await pass(2.9);
  expect(await cache.get('aa 1')).toEqual({ version: 1 });
  await pass(1.6);
  broken = null;
  expect(await cache.get('aa 1')).toEqual({ version: 2 });
  expect(reads()).toEqual(['aa 1']);
  released.resolve();
});

test('a late answer describes the moment of its question', async () => {
  await known();
  await pass(2);
  const answer = held();
  await pass(2);
  stored.set('aa 1', 2);
  await pass(1.9);
  await answer();
  // The look began 1.9 s ago. From 4.5 s on it does not confirm the value any more.
  expect(await cache.get('aa 1')).toEqual({ version: 1 });
  broken = 'fails';
  await pass(2.7);
  broken = null;
  expect(await cache.get('aa 1')).toEqual({ version: 2 });
});

test('values read before the end of the first look are read again, because they may be older', async () => {
  const readOld = held();
  const first = cache.get('aa 1');
  stored.set('aa 1', 2);
  await pass(2);
  await readOld();
  expect(await first).toEqual({ version: 1 });
  await pass(0);
  expect(await cache.get('aa 1')).toEqual({ version: 2 });
  expect(reads()).toEqual(['aa 1', 'aa 1']);
});

test('a look-up that is underway when a change is seen is not cached', async () => {
  await known('bb 1');
  const answer = held();
  const asked = cache.get('aa 1');
  stored.set('aa 1', 2);
  await pass(2);
  await answer();
  await asked;
  expect(await cache.get('aa 1')).toEqual({ version: 2 });
  await pass(60);
  expect(await cache.get('aa 1')).toEqual({ version: 2 });
});

test('without requests there are no looks', async () => {
  await pass(60);
  expect(statements).toEqual([]);
  await cache.get('aa 1');
  await pass(298);
  const looks = statements.length;
  expect(looks).toBeGreaterThan(140);
  await pass(600);
  expect(statements.length).toBeLessThanOrEqual(looks + 1);
});

test('a process that is alone on its store never looks, and caches values until it writes', async () => {
  await changes.close();
  changes = sharingOf({ engine: 'embedded' } as Database).changes(() => performance.now());
  const alone = new FreshCache({
    kind: 'key',
    changes,
    max: 10,
    load: async (key) => ({ version: stored.get(key) }),
  });
  await alone.get('aa 1');
  stored.set('aa 1', 2);
  await pass(3_600);
  expect(await alone.get('aa 1')).toEqual({ version: 1 });
  alone.invalidate('aa 1');
  expect(await alone.get('aa 1')).toEqual({ version: 2 });
  expect(statements).toEqual([]);
});
