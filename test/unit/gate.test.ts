import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Gate } from '../../src/clickhouse/gate.ts';
import { currentCaller, forOthersToo, onBehalfOf, Shared } from '../../src/domain/caller.ts';

const gateOf = (places: number, maxWaiting = 100, maxWaitMs = 60_000): Gate =>
  new Gate({ places, maxWaiting, maxWaitMs });

/** Who came in, in order. */
function visitors(gate: Gate) {
  const inside: [string, number][] = [];
  const order: string[] = [];
  return {
    inside,
    order,
    comes: (key: string, signal?: AbortSignal): Promise<void> =>
      gate.enter({ key, ...(signal ? { signal } : {}) }).then((place) => {
        order.push(key);
        inside.push([key, place]);
      }),
    goes: async (key: string): Promise<void> => {
      const at = inside.findIndex(([who]) => who === key);
      const [[, place] = ['', -1]] = inside.splice(at, 1);
      gate.leave(place);
      await sleep(0);
    },
  };
}

test('a flood of one key leaves a place, and others come before its queue', async () => {
  const gate = gateOf(4);
  const { comes, goes, order } = visitors(gate);
  for (let i = 0; i < 20; i++) void comes('flood');
  await sleep(0);
  expect(order).toEqual(['flood', 'flood', 'flood']);
  await comes('a');
  expect(order.at(-1)).toBe('a');
  // All places taken: whoever comes now is served in turn with the flood, however long that is.
  void comes('b');
  void comes('c');
  await goes('flood');
  await goes('flood');
  expect(order.slice(4).sort()).toEqual(['b', 'c']);
  await goes('b');
  await goes('c');
  await goes('a');
  expect(order.slice(6)).toEqual(['flood', 'flood']);
});

test('the service itself may take every place', async () => {
  const gate = gateOf(2);
  expect([await gate.enter(), await gate.enter()].sort()).toEqual([0, 1]);
});

test('a full queue loses the newest of whoever has the most in it', async () => {
  const gate = gateOf(1, 4);
  const { comes, goes, order } = visitors(gate);
  await comes('flood');
  const flood = Array.from({ length: 4 }, () => comes('flood').catch((error: unknown) => error));
  await expect(comes('flood')).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
  void comes('a');
  await expect(flood[3]).resolves.toMatchObject({ code: 'overloaded' });
  expect(gate.waiting).toBe(4);
  await goes('flood');
  await goes(order.at(-1) ?? '');
  expect(order.slice(1).sort()).toEqual(['a', 'flood']);
});

test('waits no longer than it may', async () => {
  vi.useFakeTimers();
  try {
    const gate = gateOf(1, 100, 2_000);
    const place = await gate.enter({ key: 'a' });
    const late = expect(gate.enter({ key: 'b' })).rejects.toMatchObject({ code: 'overloaded' });
    await vi.advanceTimersByTimeAsync(2_000);
    await late;
    expect(gate.waiting).toBe(0);
    gate.leave(place);
    expect(await gate.enter({ key: 'b' })).toBe(place);
  } finally {
    vi.useRealTimers();
  }
});

test('who has gone waits no more', async () => {
  const gate = gateOf(1);
  const place = await gate.enter({ key: 'a' });
  const gone = new AbortController();
  const waiting = gate.enter({ key: 'b', signal: gone.signal });
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
  await expect(gate.enter({ key: 'b', signal: gone.signal })).rejects.toMatchObject({ code: 'overloaded' });
  expect(gate.waiting).toBe(0);
  gate.leave(place);
  expect(await gate.enter({ key: 'c' })).toBe(place);
});

test('shared work ends with the last who waits for it', async () => {
  const [one, two] = [new AbortController(), new AbortController()];
  let ending: AbortSignal | undefined;
  let finish = (_: string): void => undefined;
  const first = onBehalfOf({ key: 'one', signal: one.signal }, async () => {
    const shared = new Shared(() => {
      ending = currentCaller()?.signal;
      return new Promise<string>((resolve) => {
        finish = resolve;
      });
    });
    void shared.join();
    return shared;
  });
  const shared = await first;
  const second = onBehalfOf({ key: 'two', signal: two.signal }, () => shared.join());
  one.abort();
  expect([ending?.aborted, shared.isAbandoned]).toEqual([false, false]);
  two.abort();
  expect([ending?.aborted, shared.isAbandoned]).toEqual([true, true]);
  finish('done');
  expect(await second).toBe('done');
});

test('what others will use goes on in the name of its caller', async () => {
  const gone = new AbortController();
  await onBehalfOf({ key: 'one', signal: gone.signal }, () =>
    forOthersToo(async () => {
      gone.abort();
      expect(currentCaller()).toMatchObject({ key: 'one', signal: { aborted: false } });
    }),
  );
});
