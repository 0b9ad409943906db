import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createAnalytics } from '../../src/analytics/analytics.ts';
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
import { type TestedApp, UNTIL_CACHED } from '../support/oracle/compare.ts';
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
  analytics = createAnalytics({ db });
  fresh = createAnalytics({ db, memory: new Memory(0) });
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

const NOTHING = Object.fromEntries(Object.keys(QUESTIONS).map((name) => [name, []]));
const AT = { from: epochMs(START + 7 * HOUR + 123_456), to: epochMs(START + 5 * DAY + 2 * HOUR + 1_234_567) };
const moved = (ms: number): Range => ({ from: epochMs(AT.from + ms), to: epochMs(AT.to + ms) });

test('a repeated range is read from memory', async () => {
  for (let time = 0; time < UNTIL_CACHED; time++) await readFor(AT);
  expect(await readFor(AT)).toEqual(NOTHING);
});

const HOURS = [
  'edges, totals',
  'returns of an edge, totals',
  'edges, events',
  'edges, lists',
  'edges, places',
  'edges, campaigns',
  'returns of an edge, campaigns',
  'edges, keys',
  'revisits of a first hour',
  'revisits of a last hour',
];

/** What the store counts for a question that was not asked before. */
const PARTS = [
  'parts of hours, totals',
  'returns of a part, totals',
  'parts of hours, events',
  'parts of hours, lists',
  'parts of hours, places',
  'parts of hours, campaigns',
  'returns of a part, campaigns',
];
const namesIn = (read: Record<string, string[]>): string[] => Object.values(read).flat();

test('if its ends move within their hours, these hours are read once and counted to the ms', async () => {
  const read: string[][] = [];
  for (let time = 0; time < UNTIL_CACHED; time++)
    read.push(namesIn(await readFor(moved(DAY + time * 1_234))));
  expect(read[0]).toEqual(expect.arrayContaining(PARTS));
  expect(read.flat()).toEqual(expect.arrayContaining(HOURS));
  for (const ms of [4_322, -5_000, 60_000]) expect(await readFor(moved(DAY + ms))).toEqual(NOTHING);
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
  for (let time = 0; time < UNTIL_CACHED; time++) {
    const range = { from: epochMs(START + HOUR / 2 + time), to: epochMs(START + 2 * HOUR) };
    for (const [name, ask] of Object.entries(QUESTIONS))
      expect(await ask(analytics, rare.id, range), name).toEqual(await ask(fresh, rare.id, range));
  }
});

const NOW = { from: AT.from, to: LATER };
const lookedUp = async (): Promise<string[]> =>
  Object.values(await readFor(NOW))
    .flat()
    .filter((each) => each.startsWith('visits, '));

/** A session of the unsealed tail. Each starts at its own ms. */
let visits = 0;
const visit = (visitorId: string) => ({
  session: { id: randomUUID(), visitorId, startedAt: LATER - 10 * 60_000 + visits++ },
  context: { utm: { source: 'newsletter' } },
  events: [{ type: 'pageview' as const, timestamp: LATER - 9 * 60_000, path: '/now' }],
});

test('visitors of the tail are looked up once, whatever else comes in', async () => {
  await deliver(app, randomUUID(), [visit('v1'), visit('v2'), visit('nobody before')] as never[]);
  expect(await lookedUp()).not.toEqual([]);
  await lookedUp();
  expect(await lookedUp()).toEqual([]);

  await deliver(app, randomUUID(), [visit('v3'), visit('v1'), visit('another')] as never[]);
  // Each by the first question that needs them. A process that is alone on its store knows them before it reads the sessions.
  const when = db.exclusive ? 'ahead' : 'last';
  expect((await lookedUp()).sort()).toEqual([`visits, ${when} campaigns`, `visits, ${when} totals`]);
  expect(await lookedUp()).toEqual([]);
});

const GOING_ON = ['key tail', 'met before'];

test('pairs of continuing sessions from before the tail are looked up once', async () => {
  const id = randomUUID();
  const view = (minutesAgo: number, path: string) => ({
    session: { id, visitorId: 'v1', startedAt: LATER - 120 * 60_000 },
    context: {},
    events: [{ type: 'pageview' as const, timestamp: LATER - minutesAgo * 60_000, path }],
  });
  const asked = async (): Promise<string[]> => {
    const { pageviews = [], overview = [] } = await readFor(NOW);
    return [...pageviews, ...overview].filter((each) => GOING_ON.includes(each));
  };
  const unique = async (path: string) =>
    [...(await analytics.pageviews(app.id, NOW))].find((row) => row.path === path)?.uniqueSessions;
  await deliver(app, randomUUID(), [view(119, '/again'), view(118, '/before')] as never[]);
  await seal({ db, only: [app.id] }, LATER);
  await deliver(app, randomUUID(), [view(9, '/again')] as never[]);
  // Pages and the overview share them.
  expect((await asked()).filter((each) => each === 'met before')).toHaveLength(1);
  expect(await asked()).toEqual(['key tail']);
  expect(await unique('/again')).toBe(1);

  await deliver(app, randomUUID(), [view(8, '/before'), view(7, '/after')] as never[]);
  expect(await asked()).toEqual(['key tail']);
  expect(await asked()).toEqual([]);

  // A late event of the session: its pairs come from the list of its events.
  await deliver(app, randomUUID(), [view(117, '/late'), view(6, '/late')] as never[]);
  for (let time = 0; time < 2; time++) {
    const { overview = [] } = await readFor(NOW);
    // Once for all parts of the question.
    expect(overview.filter((each) => each === 'late keys')).toHaveLength(1);
    expect(await unique('/late')).toBe(1);
    await deliver(app, randomUUID(), [view(116, '/after')] as never[]);
  }
  expect(await asked()).not.toContain('met before');
  expect(await unique('/after')).toBe(1);
  expect(await unique('/before')).toBe(1);
  expect(await unique('/after')).toBe(1);
});

test('a tail of too many sessions is counted in the store', async () => {
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
    statements = [];
    const { session } = await analytics.overview(many, { from: null, to: null });
    expect(session).toMatchObject({ sessions: sealedVisitors + tailVisitors, visitors: tailVisitors });
    expect(session).toMatchObject({ newVisitors: tailVisitors, returningVisitors: 0 });
    expect(statements).toContain('tail, totals');
    const after = await analytics.kpis(many, { from: epochMs(START + 2 * DAY), to: LATER });
    expect(after.current).toMatchObject({ sessions: tailVisitors, visitors: tailVisitors });
  }
});

test('late events count at once, and after the next run everything is cached again', async () => {
  const before = await analytics.pageviews(app.id, AT);
  const startedAt = START + 3 * DAY;
  const late = {
    session: { id: randomUUID(), visitorId: randomUUID(), startedAt },
    context: {},
    events: [{ type: 'pageview' as const, timestamp: startedAt + 1_000, path: '/late' }],
  };
  await deliver(app, randomUUID(), [late as never]);
  expect(Object.values(await readFor(AT)).flat()).not.toEqual([]);
  const after = await analytics.pageviews(app.id, AT);
  expect(after).toContainEqual({ path: '/late', views: 1, uniqueSessions: 1 });
  expect(after).toHaveLength([...before].length + 1);

  await seal({ db, only: [app.id] }, LATER);
  expect(Object.values(await readFor(AT)).flat()).not.toEqual([]);
  for (let time = 1; time < UNTIL_CACHED; time++) await readFor(AT);
  expect(await readFor(AT)).toEqual(NOTHING);
  expect(await analytics.pageviews(app.id, AT)).toEqual(after);
});
