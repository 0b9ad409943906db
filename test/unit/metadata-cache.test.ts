import { beforeEach, describe, expect, test } from 'vitest';
import type { Changes } from '../../src/metadata/changes.ts';
import { FreshCache } from '../../src/metadata/fresh-cache.ts';

interface Value {
  readonly text: string;
}

let now: number;
let stored: Map<string, Value>;
let loads: string[];
/** While this is set, look-ups wait here. */
let held: Array<() => void> | null;
let failure: Error | null;

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const wait = (ms: number): void => {
  now += ms;
};
const release = async (): Promise<void> => {
  const waiting = held ?? [];
  held = null;
  for (const go of waiting) go();
  await settle();
};

/** A store without looks for changes. */
const UNSEEN: Changes = {
  reading: () => ({ order: 0, at: now }),
  used: () => undefined,
  knownAt: (_kind, _key, { at }) => at,
  isOutdated: () => false,
  onChange: () => undefined,
  close: async () => undefined,
};

const newCache = (max = 10): FreshCache<Value> =>
  new FreshCache<Value>({
    kind: 'key',
    changes: UNSEEN,
    max,
    load: async (key) => {
      loads.push(key);
      const value = stored.get(key) ?? null;
      const failed = failure;
      if (held !== null) await new Promise<void>((resolve) => held?.push(resolve));
      if (failed !== null) throw failed;
      return value;
    },
  });

beforeEach(() => {
  now = 1_000_000;
  stored = new Map([['a', { text: 'one' }]]);
  loads = [];
  held = null;
  failure = null;
});

describe('a value', () => {
  test('is read once while it is fresh', async () => {
    const cache = newCache();
    expect(await cache.get('a')).toEqual({ text: 'one' });
    wait(2_999);
    stored.set('a', { text: 'two' });
    expect(await cache.get('a')).toEqual({ text: 'one' });
    expect(loads).toEqual(['a']);
  });

  test('is served, and refreshed in the background, from 3 s on', async () => {
    const cache = newCache();
    await cache.get('a');
    stored.set('a', { text: 'two' });
    wait(3_000);
    held = [];
    expect(await cache.get('a')).toEqual({ text: 'one' });
    expect(await cache.get('a')).toEqual({ text: 'one' });
    expect(loads).toEqual(['a', 'a']);
    await release();
    expect(await cache.get('a')).toEqual({ text: 'two' });
    expect(loads).toEqual(['a', 'a']);
  });

  test('is not used from 4.5 s on', async () => {
    const cache = newCache();
    await cache.get('a');
    stored.delete('a');
    wait(4_500);
    expect(await cache.get('a')).toBeNull();
  });

  test('has the age of the start of its look-up', async () => {
    const cache = newCache();
    held = [];
    const first = cache.get('a');
    stored.set('a', { text: 'two' });
    wait(4_500);
    await release();
    expect(await first).toEqual({ text: 'one' });
    expect(await cache.get('a')).toEqual({ text: 'two' });
  });

  test('survives failing refreshes until it is too old', async () => {
    const cache = newCache();
    await cache.get('a');
    failure = new Error('store away');
    wait(4_499);
    expect(await cache.get('a')).toEqual({ text: 'one' });
    await settle();
    wait(1);
    await expect(cache.get('a')).rejects.toThrow('store away');
    failure = null;
    expect(await cache.get('a')).toEqual({ text: 'one' });
  });
});

describe('parallel look-ups', () => {
  test('of one key share one', async () => {
    const cache = newCache();
    const answers = await Promise.all(Array.from({ length: 50 }, () => cache.get('a')));
    expect(new Set(answers)).toEqual(new Set([{ text: 'one' }]));
    expect(loads).toEqual(['a']);
  });

  test('do not join one that hangs for 3 s, and the later one counts', async () => {
    const cache = newCache();
    held = [];
    const hanging = cache.get('a');
    const stuck = held;
    held = null;
    stored.set('a', { text: 'two' });
    wait(3_000);
    expect(await cache.get('a')).toEqual({ text: 'two' });
    for (const go of stuck) go();
    await hanging;
    expect(await cache.get('a')).toEqual({ text: 'two' });
    expect(loads).toEqual(['a', 'a']);
  });
});

describe('after a change here', () => {
  test('the next get reads the store', async () => {
    const cache = newCache();
    await cache.get('a');
    stored.set('a', { text: 'two' });
    cache.invalidate('a');
    expect(await cache.get('a')).toEqual({ text: 'two' });
  });

  test('a look-up that was underway is not cached', async () => {
    const cache = newCache();
    held = [];
    const before = cache.get('a');
    stored.set('a', { text: 'two' });
    cache.invalidate('a');
    await release();
    await before;
    expect(await cache.get('a')).toEqual({ text: 'two' });
  });
});

describe('a missing value', () => {
  test('is cached for less than a second', async () => {
    const cache = newCache();
    expect(await cache.get('b')).toBeNull();
    stored.set('b', { text: 'new' });
    wait(999);
    expect(await cache.get('b')).toBeNull();
    wait(1);
    expect(await cache.get('b')).toEqual({ text: 'new' });
  });

  test('evicts no value, however many are queried', async () => {
    const cache = newCache(2);
    await cache.get('a');
    for (let i = 0; i < 100; i++) await cache.get(`junk ${i}`);
    loads = [];
    await cache.get('a');
    await cache.get('junk 0');
    expect(loads).toEqual(['junk 0']);
  });
});

test('values are bounded', async () => {
  const cache = newCache(2);
  for (const key of ['a', 'b', 'c']) {
    stored.set(key, { text: key });
    await cache.get(key);
  }
  loads = [];
  await cache.get('c');
  await cache.get('a');
  expect(loads).toEqual(['a']);
});
