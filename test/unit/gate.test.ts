import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Gate } from '../../src/clickhouse/gate.ts';
import { currentCaller, forOthersToo, onBehalfOf, Shared } from '../../src/domain/caller.ts';

const gateOf = (places: number, maxWaiting = 100, maxWaitMs = 60_000): Gate =>
  new Gate({ places, maxWaiting, maxWaitMs });

/** The visitors in their order of entry. */
function visitors(gate: Gate) {
  const inside: [string, number][] = [];
  const order: string[] = [];
  return {
    inside,
    order,
    comes: (key: string, signal?: AbortSignal): Promise<void> => {
      const entered = gate.enter({ key, ...(signal ? { signal } : {}) }).then((place) => {
        order.push(key);
        inside.push([key, place]);
      });
      // Visitors that still wait when a test ends are refused while another one runs.
      entered.catch(() => undefined);
      return entered;
    },
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
  // All places are taken. New keys take turns with the flood, whatever the length of its queue.
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

test('a full queue refuses the newest visitor of the key with the most', async () => {
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

test('gives up after its time limit', async () => {
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

describe('a queue that moves', () => {
  const MOVING = { maxWaitMs: 20_000, lasting: { standsMs: 10_000, maxWaitMs: 2_000 } };
  const refused = { code: 'overloaded' };

  /** A visit of one second. Resolves when the visitor has left. */
  const visit = async (gate: Gate, key: string): Promise<void> => {
    const place = await gate.enter({ key });
    await sleep(1_000);
    gate.leave(place);
  };

  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());
  /** A timer made here, because fake timers do not replace `timers/promises`. */
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  test('a burst is served in full and in order, although its tail waits long', async () => {
    const gate = new Gate({ places: 4, maxWaiting: 256, ...MOVING });
    const order: number[] = [];
    const burst = Array.from({ length: 60 }, async (_, i) => {
      const place = await gate.enter({ key: 'burst' });
      order.push(i);
      await sleep(1_000);
      gate.leave(place);
    });
    await vi.advanceTimersByTimeAsync(30_000);
    await Promise.all(burst);
    expect(order).toEqual(Array.from({ length: 60 }, (_, i) => i));
  });

  test('a queue that is too long to be served in time refuses newcomers', async () => {
    const gate = new Gate({ places: 1, maxWaiting: 256, ...MOVING });
    const order: string[] = [];
    const comes = (key: string) =>
      visit(gate, key).then(
        () => order.push(key),
        () => undefined,
      );
    const first = comes('a');
    await vi.advanceTimersByTimeAsync(1_000);
    await first;
    for (let i = 0; i < 22; i++) void comes('a');
    expect(gate.waiting).toBe(21);
    await expect(gate.enter({ key: 'a' })).rejects.toMatchObject({ ...refused, retryAfterSeconds: 10 });
    // Another key's turn comes after one of each.
    void comes('b');
    // A statement of a question with a place waits as long as the question may.
    const late = gate.enter({ key: 'a', isLetIn: true });
    await vi.advanceTimersByTimeAsync(30_000);
    gate.leave(await late);
    expect(order.slice(0, 4)).toEqual(['a', 'a', 'a', 'b']);
  });

  test('if the queue stays long, newcomers are refused at once, until it was empty', async () => {
    const gate = new Gate({ places: 1, maxWaiting: 256, ...MOVING });
    const answers: string[] = [];
    const ask = () =>
      visit(gate, 'a').then(
        () => answers.push('served'),
        () => answers.push('refused'),
      );
    const count = (answer: string): number => answers.filter((each) => each === answer).length;
    const overload = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second++) {
        void ask();
        void ask();
        await vi.advanceTimersByTimeAsync(1_000);
      }
    };
    // At first all visitors queue up.
    await overload(10);
    expect([count('refused'), gate.waiting]).toEqual([0, 9]);
    // Then the queue is short: served visitors do not wait long, and the place is never idle.
    await overload(20);
    expect(gate.waiting).toBeLessThanOrEqual(3);
    expect(count('served')).toBeGreaterThanOrEqual(28);
    expect(count('refused')).toBeGreaterThanOrEqual(25);
    await vi.advanceTimersByTimeAsync(5_000);
    answers.length = 0;
    for (let i = 0; i < 5; i++) void ask();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(answers).toEqual(Array.from({ length: 5 }, () => 'served'));
  });

  test('visitors give up a stuck queue after their time limit', async () => {
    const gate = new Gate({ places: 1, maxWaiting: 256, ...MOVING });
    await gate.enter({ key: 'hangs' });
    const waiting = expect(gate.enter({ key: 'hangs' })).rejects.toMatchObject(refused);
    await vi.advanceTimersByTimeAsync(20_000);
    await waiting;
  });
});

test('a visitor that has gone waits no more', async () => {
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

test('shared work ends with the last caller that waits for it', async () => {
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

test('work for later callers goes on in the name of its caller', async () => {
  const gone = new AbortController();
  await onBehalfOf({ key: 'one', signal: gone.signal }, () =>
    forOthersToo(async () => {
      gone.abort();
      expect(currentCaller()).toMatchObject({ key: 'one', signal: { aborted: false } });
    }),
  );
});
