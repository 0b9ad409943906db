import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { removeFolder } from '../../src/remove-folder.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { recordOld, type Watched, watched } from './watched.ts';

/* The alerts on a service with a server, behind a proxy that fails on demand. */

let bridge: BridgeProcess;
let proxy: FaultProxy;
let all: Watched;

beforeAll(async () => {
  bridge = await bridgeProcess();
  proxy = await faultProxy(bridge.url);
  all = await watched({
    CLICKHOUSE_URL: proxy.url,
    CLICKHOUSE_USER: bridge.username,
    CLICKHOUSE_PASSWORD: bridge.password,
  });
});
afterAll(async () => {
  await all?.close();
  await proxy?.close();
  await bridge?.close();
});
beforeEach(() => all.isQuiet());

/** Heals the store, and waits until the alerts have gone. */
async function healed(): Promise<void> {
  await proxy.set('pass');
  await all.isQuiet();
}

/** The statements that a sealer writes facts with. */
const SEALING = /INSERT INTO (page|session)_stage/;
/** The statement that begins each run. Until a repair has begun, its events are late; then they are unsealed. */
const BEGINNING = /INSERT INTO sealing_runs/;

test('AnalyticsStoreFailing, AnalyticsErrorsFast, AnalyticsErrorsSlow: the store is away', async () => {
  await proxy.set('refuse');
  await all.fires('AnalyticsStoreFailing');
  await all.fires('AnalyticsErrorsFast');
  await all.fires('AnalyticsErrorsSlow');
  await healed();
});

test('AnalyticsIngestionFailing: the store takes no events, and answers questions', async () => {
  // Not an error of the engine: after one, a batch that a view refuses is put aside before it is held.
  await proxy.set('reset', /ingest_journal/);
  await all.fires('AnalyticsIngestionFailing');
  expect((await all.service.ask('/readyz')).status).toBe(200);
  expect(await all.prometheus.firing()).not.toContain('AnalyticsStoreFailing');
  await healed();
});

test('AnalyticsLatencyHigh: the statements of a question are slow', async () => {
  proxy.delayMs = 1_500;
  await proxy.set('delay', /sum\(r\.sessions\) AS sum1/);
  await all.fires('AnalyticsLatencyHigh');
  await healed();
});

test('AnalyticsIngestionHeld: a view on events refuses an app', async () => {
  const { app } = await all.service.newTenant();
  await onStore(`ALTER TABLE sessions ADD CONSTRAINT poison CHECK app_id != '${app.id}'`);
  try {
    expect((await all.service.record(app, ['/a'])).status).toBe(503);
    await all.fires('AnalyticsIngestionHeld');
  } finally {
    await onStore('ALTER TABLE sessions DROP CONSTRAINT poison');
  }
  await healed();
});

test('AnalyticsSealingLag: facts cannot be written', async () => {
  const { app } = await all.service.newTenant();
  await proxy.set('http-500', SEALING);
  expect((await recordOld(all.service, app)).status).toBe(200);
  await all.fires('AnalyticsSealingLag');
  await healed();
});

test('AnalyticsLateEventsWaiting: repairs cannot begin', async () => {
  const { app } = await all.service.newTenant();
  expect((await recordOld(all.service, app)).status).toBe(200);
  await expect.poll(() => isSealed(app.id), { timeout: 60_000 }).toBe(true);
  await proxy.set('http-500', BEGINNING);
  // From a thousand late events on a repair does not wait.
  expect((await recordOld(all.service, app, { sessions: 150 })).status).toBe(200);
  await all.fires('AnalyticsLateEventsWaiting');
  // After repairs that failed the app rests for a while.
  await healed();
});

test('AnalyticsBackupOld: no backup was made for 37 hours', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'analytics-backups-'));
  try {
    await all.backUp(join(folder, 'first'));
    await onStore(
      'ALTER TABLE backups UPDATE made_at = made_at - INTERVAL 37 HOUR WHERE 1 SETTINGS mutations_sync = 1',
    );
    await all.fires('AnalyticsBackupOld');
    await all.backUp(join(folder, 'second'));
    await all.isQuiet();
  } finally {
    removeFolder(folder);
  }
});

/** Runs a statement on the store itself, as an operator would. */
async function onStore(sql: string): Promise<void> {
  const access = Buffer.from(`${bridge.username}:${bridge.password}`).toString('base64');
  const response = await fetch(`${bridge.url}/?database=analytics`, {
    method: 'POST',
    headers: { Authorization: `Basic ${access}` },
    body: sql,
  });
  expect({ status: response.status, text: response.ok ? '' : await response.text() }).toEqual({
    status: 200,
    text: '',
  });
}

/** True if all that an app has is sealed. The time before its first event is sealed first. */
async function isSealed(app: string): Promise<boolean> {
  const status = (await all.service.admin('seal', 'status')) as {
    apps: { appId: string; page?: { lagSeconds: number }; session?: { lagSeconds: number } }[];
  };
  const state = status.apps.find(({ appId }) => appId === app);
  return state?.page?.lagSeconds === 0 && state.session?.lagSeconds === 0;
}
