import { expect, test } from 'vitest';
import { createReaders } from '../../src/facts/readers.ts';

/** A reader that is done when told. */
function heldReader() {
  let end = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { done, end };
}

test('whoever had begun is waited for, who comes later is not', async () => {
  const readers = createReaders(0);
  const [early, late] = [heldReader(), heldReader()];
  const events: string[] = [];
  const first = readers.reading(() => early.done).then(() => events.push('early'));
  const quiet = readers.quiesce().then((isQuiet) => events.push(`quiet ${isQuiet}`));
  const second = readers.reading(() => late.done).then(() => events.push('late'));
  early.end();
  await first;
  await quiet;
  late.end();
  await second;
  expect(events).toEqual(['early', 'quiet true', 'late']);
});

test('a reader that fails is done, and its failure is its own', async () => {
  const readers = createReaders(0);
  const failing = readers.reading(() => Promise.reject(new Error('no')));
  const quiet = readers.quiesce();
  await expect(failing).rejects.toThrow('no');
  expect(await quiet).toBe(true);
});

test('a process that ends does not wait for others', async () => {
  const readers = createReaders(3_600_000);
  const ending = new AbortController();
  const quiet = readers.quiesce(ending.signal);
  ending.abort();
  expect(await quiet).toBe(false);
  expect(await readers.quiesce(ending.signal)).toBe(false);
});
