import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import { Memory } from '../../src/analytics/memory/memory.ts';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { type EpochMs, epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { commitEvents } from '../support/ledger.ts';
import type { TestedApp } from '../support/oracle/compare.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { testLocation } from '../support/store.ts';

const START = Date.UTC(2026, 2, 1);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LATER = epochMs(START + 30 * DAY);
const place = testLocation();

let db: Database;
let analytics: Analytics;
let fresh: Analytics;
let deliver: Awaited<ReturnType<typeof subjectOn>>['deliver'];
let app: TestedApp;
let statements: string[] = [];

beforeAll(async () => {
  db = await openDatabase(place.location, { onStatement: ({ name }) => statements.push(name) });
  await migrate(db);
  ({ deliver } = await subjectOn(db));
  analytics = steadyAnalytics({ db });
  fresh = steadyAnalytics({ db, memory: new Memory(0) });
  app = { id: appId(randomUUID()), domain: KNOWN_DOMAIN };
  const traffic = randomTraffic({
    seed: 7,
    from: START,
    apps: 1,
    sessions: 300,
    visitors: 80,
    days: 6,
    probes: 1,
  });
  for (const { deliveries } of traffic.batches) await deliver(app, randomUUID(), deliveries);
  await seal({ db, only: [app.id] }, LATER);
});
afterAll(async () => {
  await db?.close();
  place.remove();
});

type Range = { readonly from: EpochMs; readonly to: EpochMs };
const QUESTIONS: Readonly<Record<string, (from: Analytics, id: AppId, range: Range) => Promise<unknown>>> = {
  kpis: (from, id, range) => from.kpis(id, range),
  overview: (from, id, range) => from.overview(id, range),
  pageviews: (from, id, range) => from.pageviews(id, range),
  timeSpent: (from, id, range) => from.timeSpent(id, range),
  userGrowth: (from, id, range) => from.userGrowth(id, range),
  locations: (from, id, range) => from.locations(id, range),
  utmCampaigns: (from, id, range) => from.utmCampaigns(id, range),
};
/** Whether anything is new is always read. Ingestion looks for open flushes now and then. */
const isOther = (statement: string): boolean => /^(snapshot|begun|ingestion:)/.test(statement);

/**
 * Returns the statements about facts and raw rows of every question. Each answer must equal the one without a
 * cache.
 */
async function readFor(range: Range): Promise<Record<string, string[]>> {
  const read: Record<string, string[]> = {};
  for (const [name, ask] of Object.entries(QUESTIONS)) {
    statements = [];
    const answer = await ask(analytics, app.id, range);
    read[name] = statements.filter((each) => !isOther(each));
    expect(answer, name).toEqual(await ask(fresh, app.id, range));
  }
  return read;
}

const AT = { from: epochMs(START + 7 * HOUR + 123_456), to: epochMs(START + 5 * DAY + 2 * HOUR + 1_234_567) };

const NOTHING = Object.fromEntries(Object.keys(QUESTIONS).map((name) => [name, []]));

/** The statements of questions whose edges have moved, and whose whole hours are the same. */
const EDGES: Record<string, string[]> = {
  kpis: ['parts of hours, events', 'parts of hours, totals', 'returns of a part, totals'],
  overview: ['parts of hours, lists', 'parts of hours, totals', 'returns of a part, totals', 'sealed keys'],
  pageviews: ['sealed keys'],
  timeSpent: ['sealed keys'],
  userGrowth: ['parts of hours, events', 'parts of hours, totals'],
  locations: ['parts of hours, places'],
  utmCampaigns: ['parts of hours, campaigns', 'returns of a part, campaigns'],
};

test('rows of facts are read once, and those of whole hours also if the ends of the range move within their hours', async () => {
  for (const [name, sent] of Object.entries(await readFor(AT))) expect(sent, name).not.toEqual([]);
  expect(await readFor(AT)).toEqual(NOTHING);
  for (const ms of [4_322, -5_000, 60_000]) {
    const range = { from: epochMs(AT.from + ms), to: epochMs(AT.to + ms) };
    for (const [name, sent] of Object.entries(await readFor(range))) {
      // KPIs and the overview share some.
      expect(EDGES[name], name).toEqual(expect.arrayContaining(sent));
    }
    expect(await readFor(range)).toEqual(NOTHING);
  }
});

test('values that few sessions of an hour have stay with these sessions', async () => {
  const rare: TestedApp = { id: appId(randomUUID()), domain: KNOWN_DOMAIN };
  const count = 64;
  const sessions = Array.from({ length: count }, (_, i) => {
    const startedAt = START + (i * HOUR) / count;
    const isRare = i >= count - 3;
    const event = (type: string, ms: number, more = {}) => ({
      type,
      timestamp: startedAt + ms,
      path: '/',
      ...more,
    });
    return {
      session: { id: `session-${i}`, visitorId: `visitor-${i}`, startedAt },
      context: {},
      events: isRare
        ? [event('pageview', 0), event('error', 1, { message: 'no' })]
        : [event('pageview', 0), event('pageview', 1)],
    };
  });
  const { accepted } = await deliver(rare, randomUUID(), sessions as never[]);
  expect(accepted).toBe(2 * count);
  await seal({ db, only: [rare.id] }, LATER);
  const column = await db.queryOne({
    name: 'columns stored by their rare values',
    sql: sql`SELECT count() AS parts FROM system.parts_columns WHERE table LIKE 'session_facts%' AND column IN ('bounced', 'errors') AND serialization_kind = 'Sparse'`,
    row: z.object({ parts: z.number() }),
  });
  expect(column.parts).toBeGreaterThan(0);
  for (const start of [0, HOUR / 2, HOUR - 100_000]) {
    const range = { from: epochMs(START + start), to: epochMs(START + 2 * HOUR) };
    const inRange = sessions.filter(({ session }) => session.startedAt >= range.from);
    const { current } = await analytics.kpis(rare.id, range);
    const { session, error } = await analytics.overview(rare.id, range);
    const errors = inRange.filter(({ events }) => events.some(({ type }) => type === 'error')).length;
    expect(current).toMatchObject({ sessions: inRange.length, visitors: inRange.length, errors });
    expect(session).toMatchObject({ sessions: inRange.length, bounces: errors });
    expect(error.sessionsWithErrors).toBe(errors);
  }
});

const NOW = { from: AT.from, to: LATER };

test('a session that continues in the tail, also with late events, counts once for each page', async () => {
  const id = randomUUID();
  const view = (minutesAgo: number, path: string) => ({
    session: { id, visitorId: 'v1', startedAt: LATER - 120 * 60_000 },
    context: {},
    events: [{ type: 'pageview' as const, timestamp: LATER - minutesAgo * 60_000, path }],
  });
  const unique = async (path: string) => {
    await readFor(NOW);
    return [...(await analytics.pageviews(app.id, NOW))].find((row) => row.path === path)?.uniqueSessions;
  };
  await deliver(app, randomUUID(), [view(119, '/again'), view(118, '/before')] as never[]);
  await seal({ db, only: [app.id] }, LATER);
  await deliver(app, randomUUID(), [view(9, '/again')] as never[]);
  expect(await unique('/again')).toBe(1);
  await deliver(app, randomUUID(), [view(8, '/before'), view(7, '/after')] as never[]);
  expect([await unique('/before'), await unique('/after')]).toEqual([1, 1]);
  await deliver(app, randomUUID(), [view(117, '/late'), view(6, '/late')] as never[]);
  expect(await unique('/late')).toBe(1);
  for (let time = 0; time < 2; time++) {
    await deliver(app, randomUUID(), [view(116, '/after')] as never[]);
    expect(await unique('/after')).toBe(1);
  }
});

test('a tail of many sessions is counted', async () => {
  const [sealedVisitors, tailVisitors] = [500, 50_100];
  const insert = async (sessions: number, startedAt: number): Promise<void> => {
    await db.command(
      'many sessions',
      sql`INSERT INTO events (app_id, timestamp, session_id, started_at, type, path, has_context, visitor_id)
SELECT {app:UUID}, fromUnixTimestamp64Milli({at:Int64}), concat('many ', toString({at:Int64} + number)), fromUnixTimestamp64Milli({at:Int64}),
    'pageview', '/', 1, concat('many ', toString(number)) FROM numbers({sessions:UInt64})`,
      { app: many, at: startedAt, sessions },
    );
    await commitEvents(db, [many]);
  };
  const many = appId(randomUUID());
  await insert(sealedVisitors, START + DAY);
  await seal({ db, only: [many] }, LATER);
  await insert(tailVisitors, LATER - 10 * 60_000);
  for (let time = 0; time < 3; time++) {
    const { session } = await analytics.overview(many, { from: null, to: null });
    expect(session).toMatchObject({ sessions: sealedVisitors + tailVisitors, visitors: tailVisitors });
    expect(session).toMatchObject({ newVisitors: tailVisitors, returningVisitors: 0 });
    const after = await analytics.kpis(many, { from: epochMs(START + 2 * DAY), to: LATER });
    expect(after.current).toMatchObject({ sessions: tailVisitors, visitors: tailVisitors });
  }
});

test('late events count at once, and after the next run rows of facts are read again, once', async () => {
  const before = [...(await analytics.pageviews(app.id, AT))];
  const startedAt = START + 3 * DAY;
  const late = {
    session: { id: randomUUID(), visitorId: randomUUID(), startedAt },
    context: {},
    events: [{ type: 'pageview' as const, timestamp: startedAt + 1_000, path: '/late' }],
  };
  await deliver(app, randomUUID(), [late as never]);
  await readFor(AT);
  const after = [...(await analytics.pageviews(app.id, AT))];
  expect(after).toContainEqual({ path: '/late', views: 1, uniqueSessions: 1 });
  expect(after).toHaveLength(before.length + 1);

  await seal({ db, only: [app.id] }, LATER);
  for (const [name, sent] of Object.entries(await readFor(AT))) expect(sent, name).not.toEqual([]);
  expect(await readFor(AT)).toEqual(NOTHING);
  expect([...(await analytics.pageviews(app.id, AT))]).toEqual(after);
});
