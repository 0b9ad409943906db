import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '../../src/domain/time.ts';
import type { Ingestion } from '../../src/ingestion/ingestion.ts';
import { type TestStore, testStore } from '../support/store.ts';
import {
  ingestionOn,
  NOW,
  newApp,
  sentUntilTaken,
  stored,
  totalsOf,
  untilTaken,
} from './ingestion-support.ts';

/*
 * The store writes each month into parts of its own. What lies in many months is answered all the same, within the
 * patience of its sender, on a machine that is not too slow: a sender that lost its patience sends again.
 */

let store: TestStore;
let ingestion: Ingestion;

beforeAll(async () => {
  store = await testStore();
  ingestion = ingestionOn(store.db);
  await ingestion.start();
});
afterAll(async () => {
  await ingestion.drain();
  await store.close();
});

/** A session of `events` pageviews, one per second. */
const sessionAt = (startedAt: number, events: number) => ({
  id: randomUUID(),
  visitorId: `visitor-${startedAt % 7}`,
  startedAt: new Date(startedAt).toISOString(),
  events: Array.from({ length: events }, (_, i) => ({
    type: 'pageview',
    timestamp: new Date(startedAt + i * 1_000).toISOString(),
    path: `/page-${i}`,
  })),
});

test('a batch of 5,000 events in 24 months is stored', async () => {
  const app = newApp();
  const sessions = Array.from({ length: 500 }, (_, i) =>
    sessionAt(NOW - DAY_MS - Math.floor((i * 725 * DAY_MS) / 499), 10),
  );
  const months = new Set(sessions.map(({ startedAt }) => startedAt.slice(0, 7)));
  expect(months.size).toBeGreaterThanOrEqual(24);
  await sentUntilTaken(ingestion, app, { batchId: randomUUID(), sessions });
  expect(await totalsOf(store.db, app.id)).toEqual(stored(500, 5_000));
});

test('an import of sessions in hundreds of months is stored, once', async () => {
  const app = newApp();
  const sessions = Array.from({ length: 300 }, (_, i) => sessionAt(Date.UTC(1990, i, 3, 12), 3));
  const imported = () => untilTaken(() => ingestion.importHistory(app, sessions));
  const { events, duplicates, rejected } = await imported();
  expect([events + duplicates, rejected]).toEqual([900, []]);
  expect(await totalsOf(store.db, app.id)).toEqual(stored(300, 900));
  expect(await imported()).toMatchObject({ events: 0, duplicates: 900 });
  expect(await totalsOf(store.db, app.id)).toEqual(stored(300, 900));
});
