import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { serverStore, type TestStore } from '../support/store.ts';
import { ingestionOn, newApp, REQUEST, session, stored, totalsOf } from './ingestion-support.ts';

let bridge: BridgeProcess;
let store: TestStore;

beforeAll(async () => {
  bridge = await bridgeProcess();
  store = await serverStore(bridge);
});
afterAll(async () => {
  await store.close();
  await bridge.close();
});

/** The events of one app that may wait for the store: three quarters of all, on a cluster of those of one shard. */
const room = (): number => (store.db.shards.count === 1 ? 150_000 : 75_000);

test('a store that hangs: the sender gets 503, and its batch is still stored once', async () => {
  const [app, ingestion] = [newApp(), ingestionOn(store.db)];
  const batches = Array.from({ length: 5 }, (_, i) => ({
    batchId: randomUUID(),
    sessions: [session(`s${i}`)],
  }));
  await ingestion.accept(app, { batchId: randomUUID(), sessions: [session('before')] }, REQUEST);
  bridge.hang();
  const refused = await Promise.allSettled(batches.map((batch) => ingestion.accept(app, batch, REQUEST)));
  for (const answer of refused) {
    expect(answer.status).toBe('rejected');
    const reason: unknown = answer.status === 'rejected' ? answer.reason : null;
    expect(reason).toBeInstanceOf(AppError);
    expect(reason).toMatchObject({ code: 'store_unavailable', retryAfterSeconds: expect.any(Number) });
  }
  bridge.resume();
  const retried = await Promise.all(batches.map((batch) => ingestion.accept(app, batch, REQUEST)));
  expect(retried).toEqual(Array(5).fill({ accepted: 0, rejected: [], duplicate: true }));
  expect(await totalsOf(store.db, app.id)).toEqual(stored(6, 18));
});

test('too many waiting batches of an app are refused at once, and those of others are not', async () => {
  const [app, ingestion] = [newApp(), ingestionOn(store.db)];
  const { events, ...rest } = session('big') as { events: object[] };
  const sessions = [{ ...rest, events: Array(5_000).fill(events[0]) }];
  bridge.hang();
  const waiting = Array.from({ length: room() / 5_000 }, () =>
    ingestion.accept(app, { batchId: randomUUID(), sessions }, REQUEST).catch((error: unknown) => error),
  );
  await expect(ingestion.accept(app, { batchId: randomUUID(), sessions }, REQUEST)).rejects.toMatchObject({
    code: 'overloaded',
  });
  const other = ingestion.accept(newApp(), { batchId: randomUUID(), sessions: [session('other')] }, REQUEST);
  bridge.resume();
  await Promise.all(waiting);
  expect(await other).toMatchObject({ accepted: 3 });
  await expect.poll(() => totalsOf(store.db, app.id)).toEqual(stored(1, room()));
});

/**
 * Waiting batches take 128 MiB at most. The rest is this test's own batches, and garbage before its
 * collection.
 */
const MEMORY_BOUND = 400 * 1024 ** 2;

test('while the store stalls, waiting batches are bounded, and memory with them', async () => {
  const [app, ingestion] = [newApp(), ingestionOn(store.db)];
  await ingestion.accept(app, { batchId: randomUUID(), sessions: [session('before')] }, REQUEST);
  const before = process.memoryUsage().rss;
  bridge.hang();
  const { events, ...rest } = session('many') as { events: object[] };
  const answers: Promise<unknown>[] = [];
  let highest = 0;
  // Three times as many as there is room for: refused senders come again.
  for (let i = 0; i < 1_200; i++) {
    const sessions = [{ ...rest, id: `s${i}`, events: Array(500).fill(events[i % 3]) }];
    const sending = ingestion.accept(app, { batchId: randomUUID(), sessions }, REQUEST);
    answers.push(sending.then(() => 'stored').catch((error: AppError) => error.code));
    if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    highest = Math.max(highest, process.memoryUsage().rss);
  }
  const { waiting } = ingestion.stats();
  expect(waiting.events).toBe(room());
  expect(highest - before).toBeLessThan(MEMORY_BOUND);
  bridge.resume();
  const codes = await Promise.all(answers);
  expect(codes.filter((code) => code === 'overloaded')).toHaveLength(1_200 - room() / 500);
  await expect.poll(() => ingestion.stats().waiting.events).toBe(0);
  expect((await totalsOf(store.db, app.id)).raw).toBe(room() + 3);
});
