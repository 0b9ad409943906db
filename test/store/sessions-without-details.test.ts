import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import { quoted, sql } from '../../src/clickhouse/sql.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { createSealer } from '../../src/facts/sealer.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { ingestionOn, NOW, newApp, REQUEST } from './ingestion-support.ts';

/* Session facts of a version that knew no segments. A sealer drops them as soon as it may, and seals their hours again. */

const HOUR = 3_600_000;
const RANGE = { from: epochMs(NOW - 200 * HOUR), to: epochMs(NOW - 50 * HOUR) };

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

async function appWithBareFacts() {
  const app = newApp();
  const sessions = [190, 150, 100, 60].map((hoursAgo) => ({
    id: `s${hoursAgo}`,
    visitorId: `v${hoursAgo % 20}`,
    startedAt: new Date(NOW - hoursAgo * HOUR).toISOString(),
    events: [{ type: 'pageview', timestamp: new Date(NOW - hoursAgo * HOUR + 5).toISOString(), path: '/' }],
  }));
  await ingestionOn(store.db).accept(app, { batchId: randomUUID(), sessions }, REQUEST);
  await seal({ db: store.db, only: [app.id] }, NOW);
  await store.db.command(
    'an earlier version',
    sql`ALTER TABLE ${store.db.shards.stored('session_facts')} UPDATE session = 0, visitor = 0 WHERE app_id = ${quoted(app.id)} SETTINGS mutations_sync = 2`,
  );
  return app.id;
}

const bareFacts = async (app: string): Promise<number> =>
  (
    await store.db.queryOne(
      {
        name: 'bare facts',
        sql: sql`SELECT count() AS n FROM session_facts WHERE app_id = {app:UUID} AND session = 0 AND started_at < {now:Int64}`,
        row: z.object({ n: z.number() }),
      },
      { app, now: NOW },
    )
  ).n;

const newSealer = () =>
  createSealer({
    db: store.db,
    clock: () => NOW,
    log: {
      info: () => undefined,
      warn: (fields) => {
        throw new Error(JSON.stringify(fields));
      },
    },
  });

test('while a visitor is being erased, the facts wait for a later pass of the same process', async () => {
  const app = await appWithBareFacts();
  const erasure = { app_id: app, erasure_id: randomUUID() };
  await store.db.insert('erasures', [{ ...erasure, ended: 0 }]);
  const sealer = newSealer();
  await sealer.run();
  expect(await bareFacts(app)).toBe(4);
  await store.db.insert('erasures', [{ ...erasure, ended: 1 }]);
  await sealer.run();
  expect(await bareFacts(app)).toBe(0);
  const segment = [[{ dimension: 'page', operator: '==', value: '/' } as const]];
  const { current } = await steadyAnalytics({ db: store.db }).kpis(app, RANGE, segment);
  expect(current).toMatchObject({ sessions: 4, visitors: 2, pageviews: 4 });
});

test('rows of a run that ended, from the watermark on, do not hide those of the facts', async () => {
  const app = await appWithBareFacts();
  // Such rows are deleted before anything is sealed there. Nothing is, so far.
  const left = { app_id: app, run: 1, started_at: NOW + HOUR, prev: -1, session: 0 };
  await store.db.insert('session_facts', [left]);
  const sealer = newSealer();
  await sealer.run();
  expect(await bareFacts(app)).toBe(0);
  const steps = async () => (await sealer.states()).filter((state) => state.app === app);
  const sealed = await steps();
  // They are no reason to drop facts time and again.
  await newSealer().run();
  expect(await steps()).toEqual(sealed);
  expect(await bareFacts(app)).toBe(0);
});
