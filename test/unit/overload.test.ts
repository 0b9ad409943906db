import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchOverload } from '../../src/http/gate/overload.ts';

const block = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

test('an event loop that is repeatedly late is overloaded, until it recovers', async () => {
  const overload = watchOverload();
  try {
    // One long pause is no overload.
    block(600);
    await sleep(1_500);
    expect(overload.isOverloaded).toBe(false);
    for (let i = 0; i < 30 && !overload.isOverloaded; i++) {
      block(500);
      await new Promise((resolve) => setImmediate(resolve));
      await sleep(0);
    }
    expect(overload.isOverloaded).toBe(true);
    await expect.poll(() => overload.isOverloaded).toBe(false);
  } finally {
    overload.close();
  }
});
