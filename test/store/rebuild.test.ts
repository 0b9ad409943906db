import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import { quoted, sql } from '../../src/clickhouse/sql.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { createSealer } from '../../src/facts/sealer.ts';
import { unseal } from '../../src/facts/unseal.ts';
import { createSnapshots, type ReadSnapshot } from '../../src/snapshots/snapshots.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { ingestionOn, NOW, newApp, REQUEST } from './ingestion-support.ts';

const HOUR = 3_600_000;
const RANGE = { from: epochMs(NOW - 200 * HOUR), to: epochMs(NOW - 50 * HOUR) };

let store: TestStore;
let analytics: Analytics;
/** Another process with its own cache. */
let other: Analytics;
let snapshots: ReadSnapshot;

beforeAll(async () => {
  store = await testStore();
  snapshots = createSnapshots(store.db);
  analytics = steadyAnalytics({ db: store.db, snapshots });
  other = steadyAnalytics({ db: store.db });
});
afterAll(() => store.close());

test('a rebuild replaces wrong facts in the cache of every process, and confirms no earlier answer', async () => {
  const app = newApp();
  const sessions = [190, 150, 149, 100, 60].map((hoursAgo) => ({
    id: `s${hoursAgo}`,
    visitorId: `v${hoursAgo % 2}`,
    startedAt: new Date(NOW - hoursAgo * HOUR).toISOString(),
    events: [{ type: 'pageview', timestamp: new Date(NOW - hoursAgo * HOUR + 5).toISOString(), path: '/' }],
  }));
  await ingestionOn(store.db).accept(app, { batchId: randomUUID(), sessions }, REQUEST);
  await seal({ db: store.db, only: [app.id] }, NOW);
  const right = await analytics.pageviews(app.id, RANGE);
  expect(right).toEqual([{ path: '/', views: 5, uniqueSessions: 5 }]);
  const before = await snapshots(app.id);

  // An unnoticed fault: the sums of a day are stored twice.
  await store.db.command(
    'a fault',
    sql`INSERT INTO page_facts SELECT * FROM page_facts WHERE app_id = ${quoted(app.id)} AND grain = 'day'`,
  );
  const longer = { from: RANGE.from, to: epochMs(RANGE.to - 1) };
  await analytics.pageviews(app.id, longer);
  const wrong = await steadyAnalytics({ db: store.db }).pageviews(app.id, longer);
  expect(wrong).not.toEqual(right);
  for (const each of [analytics, other]) for (let i = 0; i < 3; i++) await each.pageviews(app.id, longer);

  expect(await unseal({ db: store.db, only: [app.id] }, NOW)).toBe(1);
  for (const each of [analytics, other]) expect(await each.pageviews(app.id, longer)).toEqual(right);
  await seal({ db: store.db, only: [app.id] }, NOW);
  for (const each of [analytics, other]) expect(await each.pageviews(app.id, longer)).toEqual(right);
  const after = await snapshots(app.id);
  expect(after.version).toEqual(before.version);
  expect(after.rebuilt).not.toBe(before.rebuilt);
  expect(after.published.page.step).not.toBe(before.published.page.step);
});

test('rebuilds and passes at the same moment do not fail', async () => {
  const app = newApp();
  const at = NOW - 100 * HOUR;
  const session = {
    id: 's',
    visitorId: 'v',
    startedAt: new Date(at).toISOString(),
    events: [{ type: 'pageview', timestamp: new Date(at + 5).toISOString(), path: '/' }],
  };
  await ingestionOn(store.db).accept(app, { batchId: randomUUID(), sessions: [session] }, REQUEST);
  await seal({ db: store.db, only: [app.id] }, NOW);
  const log = { info: () => undefined, warn: () => undefined };
  const sealers = [1, 2, 3].map(() => createSealer({ db: store.db, clock: () => NOW, log }));
  const passes = sealers.map((sealer) => sealer.run());
  // A rebuild of facts that another one has dropped finds nothing to drop.
  expect(await Promise.all(sealers.map((sealer) => sealer.rebuild([app.id])))).toContain(1);
  await Promise.all(passes);
  for (const sealer of sealers) await sealer.stop();
  await seal({ db: store.db, only: [app.id] }, NOW);
  expect(await analytics.pageviews(app.id, RANGE)).toEqual([{ path: '/', views: 1, uniqueSessions: 1 }]);
});
