import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/clickhouse/database.ts';
import { quoted, sql } from '../../src/clickhouse/sql.ts';
import { AppError } from '../../src/domain/errors.ts';
import { seal } from '../../src/facts/pass.ts';
import { deadRuns, sealStates } from '../../src/facts/seal-states.ts';
import { Turns } from '../../src/facts/turns.ts';
import type { SdkApp } from '../../src/metadata/types.ts';
import { replaced } from '../support/replaced.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { ingestionOn, NOW, newApp, REQUEST } from './ingestion-support.ts';

const HOUR = 3_600_000;

let store: TestStore;

beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

async function appWithTwoDays(): Promise<SdkApp> {
  const app = newApp();
  const sessions = [50, 26].map((hoursAgo) => ({
    id: `s${hoursAgo}`,
    visitorId: 'v',
    startedAt: new Date(NOW - hoursAgo * HOUR).toISOString(),
    events: [{ type: 'pageview', timestamp: new Date(NOW - hoursAgo * HOUR + 5).toISOString(), path: '/' }],
  }));
  await ingestionOn(store.db).accept(app, { batchId: randomUUID(), sessions }, REQUEST);
  return app;
}

/** Changes what the ledger counts in each hour of an app. */
const counted = (app: SdkApp, events: number): Promise<void> =>
  store.db.command(
    'a fault',
    sql`ALTER TABLE ${store.db.shards.stored('ledger')} UPDATE events = ${events} WHERE app_id = ${quoted(app.id)} SETTINGS mutations_sync = 2`,
  );

/** Hours that are ripe and not sealed, of both kinds. */
const behind = async (app: SdkApp): Promise<number[]> =>
  (await sealStates({ db: store.db, only: [app.id] }, NOW)).map(({ lagMs }) => lagMs / HOUR);

test('an app that cannot be sealed leaves no dead run at each pass, and holds nobody up', async () => {
  const [stuck, other] = [await appWithTwoDays(), await appWithTwoDays()];
  // The ledger counts an event that no other table has, as after an insert that was given up half-way.
  await counted(stuck, 2);
  const turns = new Turns();
  const pass = () => seal({ db: store.db, only: [stuck.id, other.id] }, NOW, { turns });
  const deadOnes = () => deadRuns(store.db, 'page', [stuck.id]);
  await pass();
  expect(await behind(other)).toEqual([0, 0]);
  expect(await behind(stuck)).toEqual([25, 25]);
  for (let i = 0; i < 3; i++) await pass();
  const dead = await deadOnes();
  for (let i = 0; i < 5; i++) await pass();
  expect(await deadOnes()).toEqual(dead);
  expect(dead.length).toBeLessThanOrEqual(3);
  // Another process, or this one after its pause, seals the hour as soon as it can be sealed.
  await counted(stuck, 1);
  await seal({ db: store.db, only: [stuck.id] }, NOW);
  expect(await behind(stuck)).toEqual([0, 0]);
});

test('an app whose statements fail does not keep those back that are sealed with it', async () => {
  const [failing, other] = [await appWithTwoDays(), await appWithTwoDays()];
  const command: Database['command'] = async (name, statement, params, options) => {
    const { apps = [] } = (params ?? {}) as { apps?: readonly string[] };
    if (apps.includes(failing.id)) throw new AppError('overloaded', 'a fault');
    await store.db.command(name, statement, params, options);
  };
  const db = replaced(store.db, { command });
  const turns = new Turns();
  const pass = () => seal({ db, only: [failing.id, other.id] }, NOW, { turns });
  await expect(pass()).rejects.toThrow('a fault');
  await expect(pass()).rejects.toThrow('a fault');
  expect(await behind(other)).toEqual([0, 0]);
  // The app is paused now. It does not fail the passes in between.
  await pass();
  expect(await behind(failing)).not.toEqual([0, 0]);
});
