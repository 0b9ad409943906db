import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import { Memory } from '../../src/analytics/memory/memory.ts';
import { identifier, join, quoted, type Sql, sql } from '../../src/clickhouse/sql.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs, type OpenRange } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { purgeSessions } from '../../src/facts/purge.ts';
import { SESSION_COLUMNS } from '../../src/facts/sql/session-columns.ts';
import { rowsFromEvents } from '../../src/facts/sql/session-rows.ts';
import { unseal } from '../../src/facts/unseal.ts';
import { ingestionOn, NOW, REQUEST } from '../store/ingestion-support.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { type TestStore, testStore } from '../support/store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const CUT = NOW - 36 * HOUR;
const RANGES: readonly OpenRange[] = [
  { from: null, to: null },
  { from: epochMs(NOW - 101 * HOUR), to: epochMs(NOW - 29 * HOUR) },
];

let store: TestStore;
let ingestion: ReturnType<typeof ingestionOn>;
let analytics: Analytics;
let fresh: Analytics;
/** `twin` has the same data but is never purged: its answers must equal those of `app`. */
let app: AppId;
let twin: AppId;

beforeAll(async () => {
  store = await testStore();
  ingestion = ingestionOn(store.db);
  analytics = steadyAnalytics({ db: store.db });
  fresh = steadyAnalytics({ db: store.db, memory: new Memory(0) });
});
afterAll(() => store.close());

beforeEach(async () => {
  app = appId(randomUUID());
  twin = appId(randomUUID());
  await send(...[130, 100, 99, 50, 49, 30, 26, 1].map((hoursAgo) => visit(hoursAgo, [0, 1, 2])));
  await seal({ ...deps(), only: [app, twin] }, NOW);
});

const deps = () => ({ db: store.db, only: [app] });
const purge = (now: number = NOW) => purgeSessions(deps(), epochMs(now));

/** A session that began `hoursAgo`, with a view at each of `minutes` after its start. */
function visit(hoursAgo: number, minutes: readonly number[]): object {
  const start = NOW - hoursAgo * HOUR;
  return {
    id: `session-${hoursAgo}`,
    visitorId: `visitor-${hoursAgo % 3}`,
    startedAt: new Date(start).toISOString(),
    context: {
      utm: { source: 'letter', campaign: `c${hoursAgo % 2}` },
      language: 'fa-IR',
      location: {
        country: 'IR',
        city: `City ${hoursAgo % 4}`,
        latitude: 35.7 + (hoursAgo % 4),
        longitude: 51.4,
      },
    },
    events: minutes.map((minute) => ({
      type: 'pageview',
      timestamp: new Date(start + minute * 60_000).toISOString(),
      path: `/${hoursAgo}/${minute}`,
    })),
  };
}

async function send(...sessions: readonly object[]): Promise<void> {
  for (const id of [app, twin]) {
    const batch = { batchId: randomUUID(), sessions };
    const { rejected } = await ingestion.accept({ id, domain: 'https://shop.example' }, batch, REQUEST);
    expect(rejected).toEqual([]);
  }
}

async function expectEqualAnswers(): Promise<void> {
  const ask = async (from: Analytics, id: AppId): Promise<unknown[]> => [
    ...(await Promise.all(
      RANGES.flatMap((range) => [
        from.overview(id, range),
        from.locations(id, range),
        from.utmCampaigns(id, range),
        from.userGrowth(id, range),
        from.pageviews(id, range),
      ]),
    )),
    await from.kpis(id, { from: epochMs(NOW - 4 * DAY), to: NOW }),
    await from.trafficHeatmap(id, NOW),
    await from.audienceActivity(id, NOW),
  ];
  const expected = await ask(fresh, twin);
  expect(await ask(fresh, app)).toEqual(expected);
  expect(await ask(analytics, app)).toEqual(expected);
}

/** Returns the starts of the sessions with rows in `sessions`, in hours before now. */
async function held(): Promise<number[]> {
  const { starts } = await store.db.queryOne(
    {
      name: 'held sessions',
      sql: sql`SELECT arraySort(groupUniqArray(intDiv(${NOW} - toUnixTimestamp64Milli(started_at), ${HOUR}))) AS starts
FROM sessions WHERE app_id = {app:UUID}`,
      row: z.object({ starts: z.array(z.number()) }),
    },
    { app },
  );
  return starts;
}

test('sealed sessions older than a day and a half are deleted, and every answer stays the same', async () => {
  await expectEqualAnswers();
  expect(await purge()).toBe(1);
  expect(await held()).toEqual([1, 26, 30]);
  await expectEqualAnswers();
  expect(await purge()).toBe(0);
});

test('the next run is six hours later at the earliest, and only if there is something to delete', async () => {
  await purge();
  expect(await purge(NOW + 5 * HOUR)).toBe(0);
  expect(await purge(NOW + 6 * HOUR)).toBe(0);
  await seal(deps(), epochMs(NOW + 2 * DAY));
  expect(await purge(NOW + 6 * HOUR)).toBe(0);
  expect(await purge(NOW + 8 * HOUR)).toBe(1);
  expect(await held()).toEqual([1, 26]);
});

test('unsealed sessions stay', async () => {
  await send(visit(300, [0]));
  await unseal({ ...deps(), only: [app, twin] }, NOW);
  expect(await purge()).toBe(0);
  expect(await held()).toEqual([1, 26, 30, 49, 50, 99, 100, 130, 300]);
});

test('late events of deleted sessions count at once, and after they are sealed', async () => {
  await purge();
  await send(visit(100, [7, 8]), visit(98, [0]), visit(30, [9]));
  await expectEqualAnswers();
  await expectEqualAnswers();
  await seal({ ...deps(), only: [app, twin] }, NOW);
  await expectEqualAnswers();
});

test('facts of deleted sessions are rebuilt', async () => {
  await purge();
  await unseal(deps(), NOW);
  await expectEqualAnswers();
  await seal(deps(), NOW);
  await expectEqualAnswers();
});

test('killed after its announcement, or in the middle: remaining rows are not read', async () => {
  const { db } = store;
  await db.insert('kept_sessions', [{ app_id: app, kept_from: CUT }], { about: [app] });
  await send(visit(130, [3]));
  await expectEqualAnswers();
  await db.command(
    'half of it',
    sql`ALTER TABLE sessions DELETE WHERE app_id = ${quoted(app)} AND started_at < fromUnixTimestamp64Milli(${NOW - 99.5 * HOUR}, 'UTC')
SETTINGS mutations_sync = 1`,
  );
  await expectEqualAnswers();
  await seal({ ...deps(), only: [app, twin] }, NOW);
  await expectEqualAnswers();
  expect(await held()).toEqual([1, 26, 30, 49, 50, 99]);
  await seal(deps(), epochMs(NOW + 2 * DAY));
  await purge(NOW + DAY);
  expect(await held()).toEqual([1]);
});

test('repeated imports of history find their events', async () => {
  const own = { id: app, domain: 'https://shop.example' };
  const sessions = [visit(100, [0, 1, 2]), visit(30, [0, 1, 2])];
  await purge();
  expect(await ingestion.importHistory(own, sessions)).toMatchObject({ events: 0, duplicates: 6 });
  expect(await ingestion.importHistory(own, [visit(100, [0, 5])])).toMatchObject({
    events: 1,
    duplicates: 1,
  });
});

test('rows made from events equal those of the view', async () => {
  const from = Date.UTC(2026, 7, 1);
  const { batches } = randomTraffic({
    seed: 9,
    apps: 1,
    sessions: 400,
    visitors: 60,
    from,
    days: 3,
    probes: 0,
  });
  for (const { deliveries } of batches) {
    const sessions = deliveries.map(({ session, context, events }) => ({
      ...session,
      startedAt: new Date(session.startedAt).toISOString(),
      context,
      events: events.map((event) => ({ ...event, timestamp: new Date(event.timestamp).toISOString() })),
    }));
    await send(...sessions);
  }
  const columns = await store.db.query({
    name: 'states',
    sql: sql`SELECT extract(type, 'SimpleAggregateFunction\\((\\w+),') AS merge, name FROM system.columns
WHERE database = currentDatabase() AND table = 'sessions' AND merge != ''`,
    row: z.object({ merge: z.string(), name: z.string() }),
  });
  expect(columns.length).toBeGreaterThan(20);
  const merged = (rows: Sql): Sql =>
    sql`SELECT started_at, session, ${join(
      columns.map(
        ({ merge, name }) =>
          sql`toString(${identifier(merge)}(s.${identifier(name)})) AS ${identifier(`${name}_`)}`,
      ),
    )}
FROM ${rows} AS s WHERE app_id = ${quoted(app)} GROUP BY started_at, session`;
  const [view, events] = [
    merged(sql`sessions`),
    merged(rowsFromEvents(sql`app_id = ${quoted(app)}`, SESSION_COLUMNS)),
  ];
  const { rows, bare, differences } = await store.db.queryOne({
    name: 'differences',
    sql: sql`SELECT (SELECT count() FROM (${view})) AS rows,
    (SELECT count() FROM (SELECT 1 FROM events WHERE app_id = ${quoted(app)} GROUP BY session_id, started_at HAVING max(has_context) = 0)) AS bare,
    (SELECT count() FROM (${view} EXCEPT ${events})) + (SELECT count() FROM (${events} EXCEPT ${view})) AS differences`,
    row: z.object({ rows: z.number(), bare: z.number(), differences: z.number() }),
  });
  // A question about the context alone reads no other events.
  expect(bare).toBe(0);
  expect(rows).toBeGreaterThan(300);
  expect(differences).toBe(0);
});
