import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Query } from '../../src/clickhouse/database.ts';
import { sql, unchecked } from '../../src/clickhouse/sql.ts';
import { DAY_MS, type EpochMs, epochMs, HOUR_MS } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { purgeSessions } from '../../src/facts/purge.ts';
import { createIngestion } from '../../src/ingestion/ingestion.ts';
import { createVisitors } from '../../src/ingestion/visitors.ts';
import type { SdkApp } from '../../src/metadata/types.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { newApp, SILENT, session } from './ingestion-support.ts';

let store: TestStore;
let now = epochMs(Date.now());

beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const VISITORS: Query<{ visitor: string; start: number }> = {
  name: 'visitors',
  sql: sql`SELECT visitor_id AS visitor, toUnixTimestamp64Milli(started_at) AS start FROM events
        WHERE app_id = {app:UUID} AND has_context = 1 ORDER BY session_id`,
  row: z.object({ visitor: z.string(), start: z.number() }),
};
const SALTS: Query<{ days: number }> = {
  name: 'salts',
  sql: sql`SELECT toUInt32(count()) AS days FROM ingest_salts`,
  row: z.object({ days: z.number() }),
};

const service = (clock = () => now) => createIngestion({ db: store.db, clock, log: SILENT, maxAgeDays: 730 });

/** Returns the visitor that a session without one gets. */
async function visitorOf(app: SdkApp, request: { userAgent: string; address: string }): Promise<string> {
  const id = randomUUID();
  await service().accept(
    app,
    { batchId: randomUUID(), sessions: [{ ...session(id), visitorId: undefined }] },
    request,
  );
  const rows = await store.db.query(
    { ...VISITORS, sql: unchecked(VISITORS.sql.replace('ORDER', 'AND session_id = {id:String} ORDER')) },
    { app: app.id, id },
  );
  return rows[0]?.visitor ?? '';
}

test('a visitor without an id is known by address and user agent, within an app and a day', async () => {
  const [app, other] = [newApp(), newApp()];
  const request = { userAgent: 'agent', address: '192.0.2.7' };
  const visitor = await visitorOf(app, request);
  expect(visitor).toMatch(/^anon-[0-9a-f]{32}$/);
  expect(await visitorOf(app, request)).toBe(visitor);
  const others = [
    await visitorOf(app, { ...request, address: '192.0.2.8' }),
    await visitorOf(app, { ...request, userAgent: 'agent 2' }),
    await visitorOf(other, request),
  ];
  now = epochMs(now + DAY_MS);
  others.push(await visitorOf(app, request));
  expect(new Set([visitor, ...others]).size).toBe(5);
});

test('a process whose clock is far behind keeps its salt, whatever the day of the engine', async () => {
  const clock = () => epochMs(Date.UTC(2020, 0, 1));
  const { id } = newApp();
  const ids = await createVisitors({ db: store.db, clock }).today();
  await store.db.command('merge salts', sql`OPTIMIZE TABLE ingest_salts FINAL`);
  const again = await createVisitors({ db: store.db, clock }).today();
  expect(again(id, '192.0.2.7', 'agent')).toBe(ids(id, '192.0.2.7', 'agent'));
});

test('two processes make the same ids, and a salt is gone before it is two days old', async () => {
  const clock = () => now;
  const [one, two] = [createVisitors({ db: store.db, clock }), createVisitors({ db: store.db, clock })];
  const [a, b] = await Promise.all([one.today(), two.today()]);
  const { id } = newApp();
  expect(a(id, '192.0.2.7', 'agent')).toBe(b(id, '192.0.2.7', 'agent'));
  now = epochMs(now + 2 * DAY_MS);
  const age = sql`ALTER TABLE ingest_salts UPDATE created_at = now64(3) - INTERVAL 47 HOUR WHERE 1 SETTINGS mutations_sync = 1`;
  await store.db.command('later', age);
  await one.forget();
  await expect.poll(async () => (await store.db.queryOne(SALTS)).days).toBe(0);
});

test('a process whose clock is a year ahead deletes no salt of the others', async () => {
  const clock = () => now;
  const ids = await createVisitors({ db: store.db, clock }).today();
  const ahead = createVisitors({ db: store.db, clock: () => epochMs(now + 365 * DAY_MS) });
  await ahead.today();
  await ahead.forget();
  const { id } = newApp();
  const again = await createVisitors({ db: store.db, clock }).today();
  expect(again(id, '192.0.2.7', 'agent')).toBe(ids(id, '192.0.2.7', 'agent'));
});

test("a day whose salt was lost with a step of the store's clock gets a new one, the same for all", async () => {
  const clock = () => now;
  await createVisitors({ db: store.db, clock }).today();
  await store.db.command('lose', sql`ALTER TABLE ingest_salts DELETE WHERE 1 SETTINGS mutations_sync = 1`);
  const [one, two] = await Promise.all([0, 1].map(() => createVisitors({ db: store.db, clock }).today()));
  const { id } = newApp();
  expect(one?.(id, '192.0.2.7', 'agent')).toBe(two?.(id, '192.0.2.7', 'agent'));
});

test.each([
  ['behind by an hour', -3_600_000, 3_600_000],
  ['ahead by ten minutes', 600_000, -600_000],
  ['behind by a minute and a half', -90_000, 90_000],
  ['ahead by two minutes, a second and a bit', 121_234, -121_234],
  ['behind by half a minute', -30_000, 0],
  ['behind by two days', -2 * DAY_MS, 0],
])('a clock that is %s', async (_, offMs, correctedBy) => {
  const app = newApp();
  const at = (ms: number): string => new Date(ms).toISOString();
  const start = now - 60_000 + offMs;
  const visit = {
    id: 's',
    visitorId: 'v',
    startedAt: at(start),
    events: [{ type: 'pageview', timestamp: at(start), path: '/' }],
  };
  const ingestion = service();
  // The second batch took 400 ms longer, and its session must stay the same.
  for (const delay of [0, 400]) {
    const batch = { batchId: randomUUID(), sessions: [visit], sentAt: at(now + offMs - delay) };
    expect(await ingestion.accept(app, batch, { userAgent: '', address: '' })).toMatchObject({ accepted: 1 });
  }
  const rows = await store.db.query(VISITORS, { app: app.id });
  expect(rows.map(({ start: stored }) => stored as EpochMs)).toEqual(Array(2).fill(start + correctedBy));
});

test.each([
  ['three and a half minutes', 3.5 * 60_000],
  ['an hour and a bit', 3_601_234],
  ['a minute, up to which nothing is corrected', 60_000],
  ['a day, beyond which nothing is corrected', DAY_MS],
  ['three and a half minutes, ahead', -3.5 * 60_000],
])('batches of a session get one start in two processes if the clock is off by %s', async (_, offMs) => {
  const app = newApp();
  const at = (ms: number): string => new Date(ms).toISOString();
  const start = now - 60_000 - offMs;
  const visit = (id: string) => ({
    id,
    visitorId: 'v',
    startedAt: at(start),
    events: [{ type: 'pageview', timestamp: at(start), path: '/' }],
  });
  for (const delay of [-200, 200, 9_000]) {
    const batch = {
      batchId: randomUUID(),
      sessions: [visit('a'), visit('b')],
      sentAt: at(now - offMs - delay),
    };
    expect(await service().accept(app, batch, { userAgent: '', address: '' })).toMatchObject({ accepted: 2 });
  }
  const rows = await store.db.query(VISITORS, { app: app.id });
  expect(rows).toHaveLength(6);
  expect(new Set(rows.map(({ start: stored }) => stored)).size).toBe(1);
});

test.each([
  ['whose sessions are not sealed yet', null],
  ['whose sessions are sealed', 100 * HOUR_MS],
  ['whose sessions are sealed and in their raw events alone', HOUR_MS],
])('a session keeps its correction after a restart, in an app %s', async (_, keptMs) => {
  const app = newApp();
  const deps = { db: store.db, only: [app.id] };
  const off = 3_601_234;
  const at = (ms: number): string => new Date(ms).toISOString();
  const begun = now - 3 * DAY_MS;
  const send = async (
    arrival: number,
    delay: number,
    ids: readonly string[],
    afterMs: number,
  ): Promise<void> => {
    const sessions = ids.map((id) => ({
      id,
      visitorId: 'v',
      startedAt: at(begun - off),
      events: [{ type: 'pageview', timestamp: at(begun - off + afterMs), path: '/' }],
    }));
    const batch = { batchId: randomUUID(), sessions, sentAt: at(arrival - off - delay) };
    const ingestion = service(() => epochMs(arrival));
    expect(await ingestion.accept(app, batch, { userAgent: '', address: '' })).toMatchObject({
      accepted: ids.length,
      rejected: [],
    });
  };
  // The first event that is known may lie hours after the session's start.
  await send(begun + 20 * HOUR_MS, 0, ['a', 'b'], 19 * HOUR_MS);
  await seal(deps, epochMs(keptMs === null ? begun : now));
  if (keptMs !== null) await purgeSessions(deps, now, { keptMs, stepMs: 0 });
  await send(now, 7_000, ['a', 'new', 'b'], HOUR_MS);
  await send(now, -2_000, ['b'], 2 * HOUR_MS);
  const rows = await store.db.query(
    {
      name: 'starts',
      sql: sql`SELECT session_id AS id, groupUniqArray(toUnixTimestamp64Milli(started_at)) AS starts FROM events
        WHERE app_id = {app:UUID} GROUP BY id ORDER BY id`,
      row: z.object({ id: z.string(), starts: z.array(z.number()) }),
    },
    { app: app.id },
  );
  expect(rows).toEqual([
    { id: 'a', starts: [begun] },
    { id: 'b', starts: [begun] },
    { id: 'new', starts: [begun + 7_000] },
  ]);
});
