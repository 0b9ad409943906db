import { expect, test } from 'vitest';
import { SealedCache } from '../../src/facts/sealed-cache.ts';

const QUERY = { name: 'sums', sql: 'SELECT 1' };
const asTheyAre = <Row>(rows: readonly Row[]): readonly Row[] => rows;

/** Asks the cache for a statement; its rows are numbers that tell how often it was loaded. */
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

test('where facts are stale, and where nothing may be kept, every question loads', async () => {
  const asked = asking(new SealedCache(1_000_000));
  expect(await asked.ask(null)).toEqual([1]);
  expect(await asked.ask(null)).toEqual([2]);
  const none = asking(new SealedCache(0));
  expect(await none.ask('a')).toEqual([1]);
  expect(await none.ask('a')).toEqual([2]);
});

test('a failure is not kept', async () => {
  const cache = new SealedCache(1_000_000);
  const failing = cache.get(QUERY, 'a', () => Promise.reject(new Error('away')), asTheyAre);
  await expect(failing).rejects.toThrow('away');
  expect(await cache.get(QUERY, 'a', async () => [7], asTheyAre)).toEqual([7]);
});

test('what is made of the rows is kept, and the oldest goes when it is full', async () => {
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

test('after clear everything is loaded again', async () => {
  const cache = new SealedCache(1_000_000);
  const asked = asking(cache);
  await asked.ask('a');
  cache.clear();
  expect(await asked.ask('a')).toEqual([2]);
});
