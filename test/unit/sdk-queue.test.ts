import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Batch, createQueue, type Queue } from '../../src/sdk/queue.ts';
import type { SessionHead, WireEvent } from '../../src/sdk/wire.ts';
import { forAll } from '../support/random.ts';
import { memoryStore } from './sdk-store.ts';

const DAY_MS = 86_400_000;
const session: SessionHead = {
  id: 'session',
  visitorId: 'visitor',
  startedAt: '2026-11-20T07:16:00.000Z',
  context: {},
};
const event = (name: string): WireEvent => ({
  type: 'custom',
  timestamp: '2026-11-20T07:16:00.000Z',
  path: '/',
  name,
});
const names = (batches: readonly Batch[]) => batches.map(({ events }) => events.map(({ name }) => name));

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-20T07:16:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

test('events gather in one batch until it is sent, and never join it afterwards', () => {
  const queue = createQueue(memoryStore());
  queue.add(session, event('a'));
  queue.add(session, event('b'));
  const [batch] = queue.all();
  if (batch) queue.freeze(batch);
  queue.add(session, event('c'));
  expect(names(queue.all())).toEqual([['a', 'b'], ['c']]);
});

test('a batch holds one session and 50 events, the queue the newest 20 batches', () => {
  const queue = createQueue(memoryStore());
  queue.add(session, event('x'));
  queue.add({ ...session, id: 'next' }, event('y'));
  expect(queue.all()).toHaveLength(2);
  for (let i = 0; i < 1_000; i++) queue.add({ ...session, id: 'next' }, event(`${i}`));
  expect(queue.all()).toHaveLength(20);
  expect(queue.all().every(({ events }) => events.length <= 50)).toBe(true);
  expect(queue.all().at(-1)?.events.at(-1)?.name).toBe('999');
});

test('another page takes over the batches of a released page, at once, under the same ids', () => {
  const store = memoryStore();
  const gone = createQueue(store);
  gone.add(session, event('a'));
  const ids = gone.all().map(({ id }) => id);
  gone.release();
  const next = createQueue(store);
  next.tend();
  expect(next.all().map(({ id }) => id)).toEqual(ids);
  expect(gone.all()).toEqual([]);
  gone.tend();
  expect(gone.all()).toEqual([]);
  const third = createQueue(store);
  third.tend();
  expect(third.all()).toEqual([]);
});

test('a page that comes back goes on with the batches that no other page took', () => {
  const store = memoryStore();
  const queue = createQueue(store);
  queue.add(session, event('a'));
  queue.release();
  queue.tend();
  expect(queue.all()).toEqual([]);
  queue.restore();
  queue.tend();
  expect(names(queue.all())).toEqual([['a']]);
});

test('another page leaves a living page its queue, and takes that of one that crashed two minutes ago', () => {
  const store = memoryStore();
  const living = createQueue(store);
  const other = createQueue(store);
  living.add(session, event('a'));
  other.tend();
  expect(other.all()).toEqual([]);
  vi.advanceTimersByTime(120_001);
  other.tend();
  expect(names(other.all())).toEqual([['a']]);
});

test('a page that slept adds nothing to batches that another page may have sent', () => {
  const store = memoryStore();
  const sleeper = createQueue(store);
  sleeper.add(session, event('before'));
  vi.advanceTimersByTime(120_001);
  sleeper.add(session, event('after'));
  expect(names(sleeper.all())).toEqual([['before'], ['after']]);
});

test('a batch that was sent is dropped before the service forgets its batchId; an unsent one is kept', () => {
  const queue = createQueue(memoryStore());
  queue.add(session, event('sent'));
  const [batch] = queue.all();
  if (batch) queue.freeze(batch);
  queue.add(session, event('unsent'));
  vi.advanceTimersByTime(6 * DAY_MS);
  queue.tend();
  expect(names(queue.all())).toEqual([['unsent']]);
});

type Step =
  | { readonly page: number; readonly do: 'add' | 'tend' | 'release' | 'restore' | 'reload' | 'beacon' }
  | { readonly page: number; readonly do: 'send'; readonly answer: boolean; readonly arrives: boolean }
  | { readonly page: number; readonly do: 'wait'; readonly ms: number };

const page = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ page, do: fc.constant('add' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      page,
      do: fc.constantFrom(
        'tend' as const,
        'release' as const,
        'restore' as const,
        'reload' as const,
        'beacon' as const,
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      page,
      do: fc.constant('send' as const),
      answer: fc.boolean(),
      arrives: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      page,
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1_000, 70_000, 130_000),
    }),
  },
);

/** A model of the service: the first content under an id counts. */
class Received {
  readonly batches = new Map<string, readonly (string | undefined)[]>();
  take({ id, events }: Batch): void {
    if (!this.batches.has(id))
      this.batches.set(
        id,
        events.map(({ name }) => name),
      );
  }
  get names() {
    return [...this.batches.values()].flat().sort();
  }
}

function send(queue: Queue, received: Received, arrives: boolean, answer: boolean): void {
  const batch = queue.all()[0];
  if (!batch) return;
  queue.freeze(batch);
  if (arrives) received.take(batch);
  if (arrives && answer) queue.remove(batch);
}

test('three tabs that add, send, lose answers, sleep, crash, go and take over: every event arrives exactly once', async () => {
  await forAll(
    fc.array(step, { maxLength: 80, size: 'max' }),
    (steps) => {
      const store = memoryStore();
      const received = new Received();
      const pages = [createQueue(store), createQueue(store), createQueue(store)];
      const added: string[] = [];
      for (const now of steps) {
        const queue = pages[now.page];
        if (!queue) continue;
        if (now.do === 'add') {
          // A queue keeps 20 batches, and each event may begin one.
          if (added.length === 20) continue;
          added.push(`${added.length}`);
          queue.add(session, event(`${added.length - 1}`));
        } else if (now.do === 'send') send(queue, received, now.arrives, now.answer);
        else if (now.do === 'beacon') {
          for (const batch of queue.all()) {
            queue.freeze(batch);
            received.take(batch);
          }
        } else if (now.do === 'tend') queue.tend();
        else if (now.do === 'release') queue.release();
        else if (now.do === 'restore') queue.restore();
        // A crash: the page ends without cleaning up.
        else if (now.do === 'reload') pages[now.page] = createQueue(store);
        else if (now.do === 'wait') vi.advanceTimersByTime(now.ms);
      }
      vi.advanceTimersByTime(120_001);
      const last = createQueue(store);
      last.tend();
      for (const queue of [...pages, last]) {
        while (queue.all()[0]) send(queue, received, true, true);
      }
      expect(received.names).toEqual(added.sort());
    },
    { runs: 500 },
  );
});
