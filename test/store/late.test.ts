import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import type { Database } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { onBehalfOf } from '../../src/domain/caller.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { purgeSessions } from '../../src/facts/purge.ts';
import { UNTIL_CACHED } from '../support/oracle/compare.ts';
import type { TestStore } from '../support/store.ts';
import { EVENT_COLUMNS, storeOfTwins } from '../support/twins.ts';
import { ingestionOn, NOW, REQUEST } from './ingestion-support.ts';

/* A late event costs only what it changes: no question reads all days between it and now. */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DAYS = 8;
const EVENTS_PER_DAY = 60_000;
const EVENTS_PER_SESSION = 6;

let store: TestStore;
let analytics: Analytics;
/** `twin` is never sealed: raw events answer for it. */
const app = appId(randomUUID());
const twin = appId(randomUUID());

beforeAll(async () => {
  ({ store, analytics } = await storeOfTwins({ app, twin }, insertDays, NOW));
  await purgeSessions({ db: store.db, only: [app] }, NOW);
});
afterAll(() => store.close());

const range = { from: epochMs(NOW - (DAYS - 1) * DAY + 1_234_567), to: NOW };
const QUESTIONS: Readonly<Record<string, (of: AppId) => Promise<unknown>>> = {
  pageviews: async (of) => [...(await analytics.pageviews(of, range))],
  timeSpent: async (of) => [...(await analytics.timeSpent(of, range))],
  kpis: (of) => analytics.kpis(of, { from: epochMs(NOW - 4 * DAY + 77), to: NOW }),
  userGrowth: (of) => analytics.userGrowth(of, range),
  utmCampaigns: (of) => analytics.utmCampaigns(of, range),
  locations: (of) => analytics.locations(of, range),
  overview: (of) => analytics.overview(of, range),
  trafficHeatmap: (of) => analytics.trafficHeatmap(of, NOW),
  audienceActivity: (of) => analytics.audienceActivity(of, NOW),
};

/** Returns the number of rows that a question reads in the store once its rows are cached. */
async function rowsRead(ask: (of: AppId) => Promise<unknown>): Promise<number> {
  let rows = 0;
  for (let time = 0; time <= UNTIL_CACHED; time++) {
    rows = 0;
    const caller = {
      key: 'test',
      signal: new AbortController().signal,
      onRowsRead: (read: number) => {
        rows += read;
      },
    };
    await onBehalfOf(caller, () => ask(app));
  }
  return rows;
}

const rowsOfAll = async (): Promise<Record<string, number>> => {
  const read: Record<string, number> = {};
  for (const [name, ask] of Object.entries(QUESTIONS)) read[name] = await rowsRead(ask);
  return read;
};

test('an event that is three days late does not make questions read days of raw rows', {
  timeout: 0,
}, async () => {
  const before = await rowsOfAll();
  const at = NOW - 3 * DAY;
  for (const id of [app, twin]) await sendLate(id, at);
  const after = await rowsOfAll();
  for (const [name, ask] of Object.entries(QUESTIONS)) {
    expect(await ask(app), name).toEqual(await ask(twin));
  }
  process.stdout.write(`rows read: ${JSON.stringify(before)}, with late events ${JSON.stringify(after)}\n`);
  for (const name of Object.keys(QUESTIONS)) {
    expect(after[name], name).toBeLessThan((before[name] ?? 0) + EVENTS_PER_DAY);
  }
});

/** Sends late events: of a session that already exists, and of a new session of a known visitor. */
async function sendLate(id: AppId, at: number): Promise<void> {
  const ingestion = ingestionOn(store.db);
  const session = (name: string, startedAt: number, events: readonly object[]) => ({
    id: name,
    visitorId: 'visitor-7',
    startedAt: new Date(startedAt).toISOString(),
    context: {
      utm: { source: 'letter', campaign: 'late' },
      location: { country: 'IR', city: 'Late', latitude: 35.7, longitude: 51.4 },
    },
    events: events.map((event) => ({ timestamp: new Date(at).toISOString(), path: '/late', ...event })),
  });
  const batch = {
    batchId: randomUUID(),
    sessions: [
      session('late', at - 1_000, [
        { type: 'pageview' },
        { type: 'click' },
        { type: 'error', message: 'no' },
      ]),
      session('session-0', NOW - DAYS * DAY, [
        { type: 'pageview', timestamp: new Date(NOW - DAYS * DAY + 90 * 60_000).toISOString() },
      ]),
    ],
  };
  const { rejected } = await ingestion.accept({ id, domain: 'https://shop.example' }, batch, REQUEST);
  expect(rejected).toEqual([]);
}

/** Inserts sessions over all days, of visitors who come back. */
async function insertDays(db: Database, id: AppId): Promise<void> {
  await db.insertFrom(
    'events',
    [...EVENT_COLUMNS, 'browser', 'country', 'utm_source', 'latitude', 'longitude'],
    sql`WITH intDiv(number, {perSession:UInt32}) AS session, number % {perSession:UInt32} AS turn,
    {from:Int64} + toInt64(session) * {step:Int64} AS started
SELECT {app:UUID}, fromUnixTimestamp64Milli(started + turn * 60000, 'UTC'), concat('session-', toString(session)),
    fromUnixTimestamp64Milli(started, 'UTC'), if(turn = 5, 'engagement', 'pageview'), concat('/', toString((session + turn) % 40)),
    if(turn = 5, 3000, 0), turn = 0, if(turn = 0, concat('visitor-', toString(session % 9000)), ''), 'Firefox', if(turn = 0, 'IR', ''),
    if(turn = 0 AND session % 5 = 0, 'letter', ''), if(turn = 0, 35.7, 0), if(turn = 0, 51.4, 0)
FROM numbers({count:UInt64})`,
    {
      app: id,
      from: NOW - DAYS * DAY,
      step: (DAY * EVENTS_PER_SESSION) / EVENTS_PER_DAY,
      perSession: EVENTS_PER_SESSION,
      count: DAYS * EVENTS_PER_DAY,
    },
  );
}
