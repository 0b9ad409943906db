import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Memory } from '../../src/analytics/memory/memory.ts';
import { appId } from '../../src/domain/ids.ts';
import { deferred } from '../support/deferred.ts';

/** Asks a memory for a value. Each value says how often one was loaded. */
function asking(memory: Memory) {
  let loads = 0;
  return (version: string | null, key = 'sums') =>
    memory.of(version).recall(
      key,
      async () => [++loads],
      () => 1,
    );
}

test('a value is loaded once for a version of the data, and never used for another', async () => {
  const ask = asking(new Memory(1_000_000));
  expect(await ask('a')).toEqual([1]);
  expect(await ask('a')).toEqual([1]);
  expect(await ask('b')).toEqual([2]);
  expect(await ask('a')).toEqual([1]);
  expect(await ask('a', 'other')).toEqual([3]);
});

test('without a version, or without room, every question loads', async () => {
  const ask = asking(new Memory(1_000_000));
  expect(await ask(null)).toEqual([1]);
  expect(await ask(null)).toEqual([2]);
  const none = asking(new Memory(0));
  expect(await none('a')).toEqual([1]);
  expect(await none('a')).toEqual([2]);
});

test('a failure is not kept', async () => {
  const cache = new Memory(1_000_000).of('a');
  const one = () => 1;
  await expect(cache.recall('sums', () => Promise.reject(new Error('away')), one)).rejects.toThrow('away');
  expect(await cache.recall('sums', async () => [7], one)).toEqual([7]);
});

test('the value that was not used for longest goes first', async () => {
  const memory = new Memory(1_000_000);
  let made = 0;
  const ask = (version: string) =>
    memory.of(version).recall(
      'list',
      async () => [++made],
      () => 1_000,
    );
  for (let version = 0; version < 20; version++) await ask(`${version}`);
  expect(made).toBe(20);
  await ask('19');
  expect(made).toBe(20);
  await ask('0');
  expect(made).toBe(21);
});

// With the entry's own bytes, three times 100 values of 100 bytes are more than 30,000.
test.each([
  ['kept', 1_000_000, true],
  ['dropped if they are too many together', 30_000, false],
])('values by name that are loaded at the same time are all %s', async (_, bytes, isKept) => {
  const memory = new Memory(bytes);
  const x = deferred();
  const loaded: string[] = [];
  const ask = (name: string, ready: Promise<void>) =>
    memory.of('a').recallEach(
      'hundreds',
      [name],
      async (unknown) => {
        await ready;
        loaded.push(...unknown);
        return new Map(unknown.map((each) => [each, each]));
      },
      () => 99,
    );
  const now = Promise.resolve();
  await ask('known', now);
  const slow = ask('x', x.promise);
  await ask('y', now);
  x.resolve();
  await slow;
  expect(loaded).toEqual(['known', 'y', 'x']);
  expect(memory.of('a').get('hundreds') !== undefined).toBe(isKept);
  for (const name of loaded.slice()) expect((await ask(name, now)).get(name)).toBe(name);
  expect(loaded.length).toBe(isKept ? 3 : 6);
});

test('of values by name, only missing ones are loaded', async () => {
  const memory = new Memory(1_000_000);
  const asked: (readonly string[])[] = [];
  const ask = async (version: string | null, ...names: string[]) => {
    const found = await memory.of(version).recallEach(
      'lengths',
      names,
      async (unknown) => {
        asked.push(unknown);
        return new Map(unknown.map((name) => [name, name.length]));
      },
      () => 1,
    );
    return names.map((name) => found.get(name));
  };
  expect(await ask('a', 'x', 'yy')).toEqual([1, 2]);
  expect(await ask('a', 'zzz', 'yy')).toEqual([3, 2]);
  expect(await ask('a', 'x', 'yy', 'zzz')).toEqual([1, 2, 3]);
  expect(await ask('b', 'x')).toEqual([1]);
  expect(await ask(null, 'x')).toEqual([1]);
  expect(asked).toEqual([['x', 'yy'], ['zzz'], ['x'], ['x']]);
});

test('values by name take room, and go when there is none', async () => {
  const memory = new Memory(100_000);
  let loaded = 0;
  const ask = (version: string, count: number) =>
    memory.of(version).recallEach(
      'ones',
      Array.from({ length: count }, (_, i) => `name ${i}`),
      async (unknown) => {
        loaded += unknown.length;
        return new Map(unknown.map((name) => [name, 1]));
      },
      () => 2,
    );
  await ask('a', 150);
  await ask('a', 250);
  expect(loaded).toBe(250);
  await ask('b', 250);
  await ask('a', 250);
  expect(loaded).toBe(750);
  // More than there is room for: answered, but not kept.
  expect((await ask('c', 1_000)).size).toBe(1_000);
  await ask('c', 1_000);
  expect(loaded).toBe(2_750);
});

test('everything is forgotten after clear', async () => {
  const memory = new Memory(1_000_000);
  const ask = asking(memory);
  await ask('a');
  memory.clear();
  expect(await ask('a')).toEqual([2]);
});

test('an app is forgotten, and no other', () => {
  const memory = new Memory(1_000_000);
  const [gone, kept] = [appId(randomUUID()), appId(randomUUID())];
  for (const app of [gone, kept]) memory.of('page 1').set(`paths of ${app}`, [app], 1);
  memory.forget(gone);
  expect(memory.of('page 1').get(`paths of ${gone}`)).toBeUndefined();
  expect(memory.of('page 1').get(`paths of ${kept}`)).toEqual([kept]);
  new Memory(0).forget(gone);
});
