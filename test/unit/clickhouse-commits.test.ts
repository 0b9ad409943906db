import { expect, test } from 'vitest';
import { Commits } from '../../src/clickhouse/commits.ts';
import type { Commit } from '../../src/domain/commits.ts';
import { epochMs } from '../../src/domain/time.ts';

const commitOf = (at: number, sessions: Commit['hours'][number]['sessions'] = []): Commit => ({
  at: epochMs(at),
  hours: [
    {
      app: 'a',
      kind: 'session',
      hour: 0,
      events: 1,
      oldest: 0,
      newest: 0,
      lastEvent: 0,
      sessions,
      types: [],
    },
  ],
});

/** The commits of one app, which has made `writes` writes. */
function commitsOfApp() {
  const commits = new Commits();
  let writes = 0;
  return {
    attempt: (token: string, commit: Commit, isDone: boolean) => {
      writes++;
      if (isDone) commits.add(token, new Map([['a', commit]]), () => writes);
      else commits.fail(token);
    },
    otherWrite: () => void writes++,
    forget: () => commits.forget('a'),
    since: (position: number) => commits.between('a', position, writes)?.map(({ at }) => at) ?? null,
  };
}

test('commits are known as long as nothing else is written', () => {
  const { attempt, otherWrite, since } = commitsOfApp();
  expect(since(0)).toEqual([]);
  attempt('one', commitOf(1), true);
  attempt('two', commitOf(2), true);
  expect([0, 1, 2].map(since)).toEqual([[1, 2], [2], []]);
  otherWrite();
  attempt('three', commitOf(3), true);
  expect([0, 1, 2, 3, 4].map(since)).toEqual([null, null, null, [3], []]);
});

test('a commit that was tried before is not known: the first attempt may have done it', () => {
  const { attempt, since } = commitsOfApp();
  attempt('one', commitOf(1), false);
  attempt('two', commitOf(2), true);
  expect([0, 1].map(since)).toEqual([null, [2]]);
  attempt('one', commitOf(1), true);
  expect([0, 1, 2, 3].map(since)).toEqual([null, null, null, []]);
  attempt('three', commitOf(3), true);
  expect([2, 3].map(since)).toEqual([null, [3]]);
});

test('commits of an app that was forgotten are not known', () => {
  const { attempt, forget, since } = commitsOfApp();
  attempt('one', commitOf(1), true);
  forget();
  attempt('two', commitOf(2), true);
  expect([0, 1, 2].map(since)).toEqual([null, [2], []]);
});

test('the latest commits are remembered, up to a limit', () => {
  const { attempt, since } = commitsOfApp();
  const sessions = Array.from({ length: 7_000 }, (_, i) => ({ id: `${i}`, startedAt: i, visitor: '' }));
  for (const at of [1, 2, 3]) attempt(`${at}`, commitOf(at, sessions), true);
  expect([0, 1, 2].map(since)).toEqual([null, [2, 3], [3]]);
  attempt('large', commitOf(4, [...sessions, ...sessions, ...sessions]), true);
  expect([2, 3, 4].map(since)).toEqual([null, null, []]);
  attempt('small', commitOf(5), true);
  expect(since(4)).toEqual([5]);
});
