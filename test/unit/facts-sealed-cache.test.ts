import { expect, test } from 'vitest';
import { SealedCache } from '../../src/facts/sealed-cache.ts';

const QUERY = { name: 'sums', sql: 'SELECT 1' };
const asTheyAre = <Row>(rows: readonly Row[]): readonly Row[] => rows;

/** Asks the cache for a statement. Each row is the number of times that it was loaded. */
function asking(cache: SealedCache) {
  let loads = 0;
  return {
    ask: (version: string | null, query = QUERY) =>
      cache.get(query, version, async () => [++loads], asTheyAre),
    get loads() {
      return loads;
    },
  };
}

test('a statement is loaded once for a version of the facts, and never used for another', async () => {
  const asked = asking(new SealedCache(1_000_000));
  expect(await asked.ask('a')).toEqual([1]);
  expect(await asked.ask('a')).toEqual([1]);
  expect(await asked.ask('b')).toEqual([2]);
  expect(await asked.ask('a')).toEqual([1]);
  expect(await asked.ask('a', { ...QUERY, sql: 'SELECT 2' })).toEqual([3]);
  expect(await asked.ask('a', { ...QUERY, name: 'other' })).toEqual([4]);
});

test('if facts are stale, or the cache has no room, every question loads', async () => {
  const asked = asking(new SealedCache(1_000_000));
  expect(await asked.ask(null)).toEqual([1]);
  expect(await asked.ask(null)).toEqual([2]);
  const none = asking(new SealedCache(0));
  expect(await none.ask('a')).toEqual([1]);
  expect(await none.ask('a')).toEqual([2]);
});

test('a failure is not cached', async () => {
  const cache = new SealedCache(1_000_000);
  const failing = cache.get(QUERY, 'a', () => Promise.reject(new Error('away')), asTheyAre);
  await expect(failing).rejects.toThrow('away');
  expect(await cache.get(QUERY, 'a', async () => [7], asTheyAre)).toEqual([7]);
});

test('the result made from the rows is cached, and the oldest one is evicted from a full cache', async () => {
  const cache = new SealedCache(1_000_000);
  const rows = Array.from({ length: 1_000 }, (_, i) => `/path/${i}`);
  let made = 0;
  const ask = (version: string) =>
    cache.get(
      QUERY,
      version,
      async () => rows,
      (all) => {
        made++;
        return { count: all.length };
      },
    );
  const first = await ask('0');
  expect(first).toEqual({ count: 1_000 });
  expect(await ask('0')).toBe(first);
  for (let version = 1; version < 20; version++) await ask(String(version));
  expect(made).toBe(20);
  await ask('19');
  expect(made).toBe(20);
  await ask('0');
  expect(made).toBe(21);
});

test('of values by key, only missing ones are loaded', async () => {
  const cache = new SealedCache(1_000_000);
  const asked: (readonly string[])[] = [];
  const ask = async (version: string | null, ...keys: string[]) => {
    const found = await cache.each(QUERY, version, keys, async (unknown) => {
      asked.push(unknown);
      return new Map(unknown.map((key) => [key, key.length]));
    });
    return keys.map((key) => found.get(key));
  };
  expect(await ask('a', 'x', 'yy')).toEqual([1, 2]);
  expect(await ask('a', 'zzz', 'yy')).toEqual([3, 2]);
  expect(await ask('a', 'x', 'yy', 'zzz')).toEqual([1, 2, 3]);
  expect(await ask('b', 'x')).toEqual([1]);
  expect(await ask(null, 'x')).toEqual([1]);
  expect(asked).toEqual([['x', 'yy'], ['zzz'], ['x'], ['x']]);
});

test('values by key take room, and are evicted from a full cache', async () => {
  const cache = new SealedCache(100_000);
  let loaded = 0;
  const ask = (version: string, count: number) =>
    cache.each(
      QUERY,
      version,
      Array.from({ length: count }, (_, i) => `key ${i}`),
      async (unknown) => {
        loaded += unknown.length;
        return new Map(unknown.map((key) => [key, 1]));
      },
    );
  await ask('a', 200);
  await ask('a', 300);
  expect(loaded).toBe(300);
  await ask('b', 300);
  expect(loaded).toBe(600);
  await ask('a', 300);
  expect(loaded).toBe(900);
  // More than there is room for: answered, but not cached.
  expect((await ask('c', 1_000)).size).toBe(1_000);
  await ask('c', 1_000);
  expect(loaded).toBe(2_900);
});

test('after clear everything is loaded again', async () => {
  const cache = new SealedCache(1_000_000);
  const asked = asking(cache);
  await asked.ask('a');
  cache.clear();
  expect(await asked.ask('a')).toEqual([2]);
});
