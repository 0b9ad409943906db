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

test('a store that hangs costs the sender a 503, and its batch is stored once all the same', async () => {
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

test('too many waiting batches are refused at once', async () => {
  const [app, ingestion] = [newApp(), ingestionOn(store.db)];
  const { events, ...rest } = session('big') as { events: object[] };
  const sessions = [{ ...rest, events: Array(5_000).fill(events[0]) }];
  bridge.hang();
  const waiting = Array.from({ length: 40 }, () =>
    ingestion.accept(app, { batchId: randomUUID(), sessions }, REQUEST).catch((error: unknown) => error),
  );
  await expect(ingestion.accept(app, { batchId: randomUUID(), sessions }, REQUEST)).rejects.toMatchObject({
    code: 'overloaded',
  });
  bridge.resume();
  await Promise.all(waiting);
  await expect.poll(() => totalsOf(store.db, app.id), { timeout: 50_000 }).toEqual(stored(1, 200_000));
});
