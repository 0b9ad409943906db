import { expect, test } from 'vitest';
import { batched } from '../../src/domain/batched.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Statements that end when the test ends them. */
function statements() {
  const begun: { keys: readonly string[]; end: (error?: Error) => void }[] = [];
  const lookUp = batched<string>(
    (keys) =>
      new Promise((resolve, reject) => {
        const found = new Map(keys.filter((key) => key !== 'nobody').map((key) => [key, `row of ${key}`]));
        begun.push({ keys, end: (error) => (error ? reject(error) : resolve(found)) });
      }),
  );
  return { begun, lookUp };
}

test('many parallel keys become few statements, never more than two at a time', async () => {
  const { begun, lookUp } = statements();
  const names = Array.from({ length: 250 }, (_, i) => `key ${i}`);
  const all = Promise.all(names.map(lookUp));
  let ended = 0;
  while (ended < begun.length) {
    expect(begun.length - ended).toBeLessThanOrEqual(2);
    begun[ended++]?.end();
    await settle();
  }
  expect(await all).toEqual(names.map((name) => `row of ${name}`));
  expect(begun.map(({ keys }) => keys.length)).toEqual([1, 1, 100, 100, 48]);
});

test('a missing key is null, and a repeated key is queried once', async () => {
  const { begun, lookUp } = statements();
  const all = Promise.all(['a', 'b', 'nobody', 'c', 'c'].map(lookUp));
  begun[0]?.end();
  begun[1]?.end();
  await settle();
  begun[2]?.end();
  expect(await all).toEqual(['row of a', 'row of b', null, 'row of c', 'row of c']);
  expect(begun[2]?.keys).toEqual(['nobody', 'c']);
});

test('a failed statement fails its own keys, and the next ones go on', async () => {
  const { begun, lookUp } = statements();
  const [a, b, c] = ['a', 'b', 'c'].map(lookUp);
  const results = Promise.allSettled([a, b, c]);
  begun[0]?.end(new Error('store away'));
  begun[1]?.end();
  await settle();
  begun[2]?.end();
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
});
