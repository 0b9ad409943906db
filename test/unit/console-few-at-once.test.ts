import { expect, test } from 'vitest';
import { fewAtOnce } from '../../src/console/apps/few-at-once.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('runs three at once, in turn, and goes on after failures and work that is not wanted any more', async () => {
  const begun: number[] = [];
  const ends: ((failed: boolean) => void)[] = [];
  const stop = new AbortController();
  const ask = (i: number, { signal } = new AbortController()) =>
    fewAtOnce(signal, () => {
      begun.push(i);
      return new Promise<number>((resolve, reject) => {
        ends[i] = (failed) => (failed ? reject(new Error('away')) : resolve(i));
      });
    });
  const answers = [0, 1, 2, 3, 4, 5].map((i) => ask(i, i === 3 ? stop : undefined));
  const outcomes = Promise.allSettled(answers);
  await settled();
  expect(begun).toEqual([0, 1, 2]);
  stop.abort();
  ends[1]?.(true);
  await settled();
  // The first of the waiting ones was not wanted any more, so the next one began.
  expect(begun).toEqual([0, 1, 2, 4]);
  ends[0]?.(false);
  await settled();
  expect(begun).toEqual([0, 1, 2, 4, 5]);
  for (const i of [2, 4, 5]) ends[i]?.(false);
  expect((await outcomes).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  const last = ask(6);
  await settled();
  ends[6]?.(false);
  expect(await last).toBe(6);
});
