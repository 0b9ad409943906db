import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { every } from '../../src/domain/every.ts';

const MS = 1_000;
let warned: unknown[];
let begun: number;
/** Ends the current run. */
let settle: (error?: Error) => void;

const job = () =>
  every(
    { name: 'work', ms: MS, log: { warn: (fields) => void warned.push(fields) } },
    () =>
      new Promise<void>((resolve, reject) => {
        begun += 1;
        settle = (error) => (error === undefined ? resolve() : reject(error));
      }),
  );

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  [warned, begun] = [[], 0];
});
afterEach(() => vi.useRealTimers());

test('runs at the start and in each interval, once at a time', async () => {
  const work = job();
  work.start();
  expect(begun).toBe(1);
  vi.advanceTimersByTime(3 * MS);
  expect(begun).toBe(1);
  settle();
  await work.idle();
  vi.advanceTimersByTime(MS);
  expect(begun).toBe(2);
  settle();
  await work.end();
});

test('a run that is asked for during another one follows it, once for all who ask', async () => {
  const work = job();
  work.start();
  const asked = [work.run(), work.run()];
  expect(begun).toBe(1);
  settle();
  await turn();
  expect(begun).toBe(2);
  settle();
  await Promise.all(asked);
  expect(begun).toBe(2);
});

test('a run that is asked for during the last one does not follow it', async () => {
  const work = job();
  work.start();
  const asked = work.run();
  const ended = work.end();
  settle();
  await Promise.all([asked, ended]);
  expect(begun).toBe(1);
});

test('a failure is logged and tried again in the next turn', async () => {
  const work = job();
  work.start();
  const failure = new Error('no');
  settle(failure);
  await work.idle();
  expect(warned).toEqual([{ name: 'work', err: failure, pauseMs: MS }]);
  vi.advanceTimersByTime(MS);
  expect(begun).toBe(2);
  settle();
  await work.end();
});

test('the end waits for the current run, and no other begins', async () => {
  const work = job();
  work.start();
  let hasEnded = false;
  const ended = work.end().then(() => {
    hasEnded = true;
  });
  await turn();
  expect(hasEnded).toBe(false);
  settle();
  await ended;
  vi.advanceTimersByTime(5 * MS);
  expect(begun).toBe(1);
});
