import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import { Memory } from '../../src/analytics/memory/memory.ts';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { type Sql, sql } from '../../src/clickhouse/sql.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { commitEvents } from '../support/ledger.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { testLocation } from '../support/store.ts';

const HOUR = 3_600_000;
const NOW = epochMs(Date.UTC(2026, 2, 10, 12, 30));
const RANGE = { from: epochMs(NOW - 48 * HOUR), to: NOW };
const place = testLocation();

let db: Database;
let analytics: Analytics;
let fresh: Analytics;
let deliver: Awaited<ReturnType<typeof subjectOn>>['deliver'];
let app: AppId;
let statements: string[] = [];

beforeAll(async () => {
  db = await openDatabase(place.location, { onStatement: ({ name }) => statements.push(name) });
  await migrate(db);
  ({ deliver } = await subjectOn(db));
  analytics = steadyAnalytics({ db });
  fresh = steadyAnalytics({ db, memory: new Memory(0) });
  app = appId(randomUUID());
  await send(visit('sealed', 30 * 60, 10));
  await seal({ db, only: [app] }, NOW);
});
afterAll(async () => {
  await db?.close();
  place.remove();
});

const VIEW = { type: 'pageview' as const, path: '/' };

/** A visit that began `minutesAgo`, with a view in each of its first `views` minutes. */
const visit = (id: string, minutesAgo: number, views: number, utm = {}) => {
  const startedAt = NOW - minutesAgo * 60_000;
  return {
    session: { id, visitorId: `visitor-${id}`, startedAt },
    context: { utm },
    events: Array.from({ length: views }, (_, i) => ({ ...VIEW, timestamp: startedAt + i * 60_000 })),
  };
};
async function send(...visits: readonly ReturnType<typeof visit>[]): Promise<void> {
  const { accepted } = await deliver({ id: app, domain: KNOWN_DOMAIN }, randomUUID(), visits as never[]);
  expect(accepted).toBe(visits.flatMap(({ events }) => events).length);
}

/** The answer must equal the one without a cache. */
async function agrees(range = RANGE): Promise<void> {
  expect(await analytics.overview(app, range)).toEqual(await fresh.overview(app, range));
}

test('sessions of the tail count once, also when they go on', async () => {
  await send(visit('one', 25, 2), visit('two', 20.25, 1), visit('three', 10, 3, { source: 'letter' }));
  expect((await analytics.overview(app, RANGE)).session).toMatchObject({ sessions: 4, visitors: 4 });
  await agrees();
  await send(visit('four', 10, 1), visit('one', 25, 1));
  expect((await analytics.overview(app, RANGE)).session).toMatchObject({ sessions: 5, visitors: 5 });
  await agrees();
  // A range that ends before a session starts, and one that holds it.
  for (const to of [NOW - 1_215_001, NOW - 1_215_000]) {
    await agrees({ from: RANGE.from, to: epochMs(to) });
  }
});

/** What a dashboard polls. */
const POLLED: readonly ((of: Analytics) => Promise<unknown>)[] = [
  (of) => of.dataBounds(app),
  (of) => of.kpis(app, RANGE),
  async (of) => [...(await of.pageviews(app, RANGE))],
  async (of) => [...(await of.timeSpent(app, RANGE))],
  (of) => of.userGrowth(app, { from: null, to: null }),
  (of) => of.trafficHeatmap(app, NOW),
  (of) => of.audienceActivity(app, NOW),
  (of) => of.locations(app, RANGE),
  (of) => of.utmCampaigns(app, RANGE),
  (of) => of.overview(app, RANGE),
];

test('after an event, all questions that are polled hold it, and each statement is sent once', async () => {
  const ask = async (of: Analytics): Promise<unknown[]> => {
    const answers: unknown[] = [];
    for (const one of POLLED) answers.push(await one(of));
    return answers;
  };
  await ask(analytics);
  await send(visit('one', 25, 1));
  const before = await ask(analytics);
  await send(visit('one', 25, 1));
  statements = [];
  const after = await ask(analytics);
  const ofState = statements.filter((each) => /^(snapshot|begun)/.test(each));
  // With other writers, each question reads the state before and after.
  expect(ofState).toHaveLength(db.engine === 'embedded' ? 1 : 2 * POLLED.length);
  expect(statements.filter((each) => /keys|pending|unsealed/.test(each)).sort()).toEqual([
    'pending keys',
    'pending keys',
    'pending keys',
    'unsealed sessions, campaigns',
    'unsealed sessions, lists',
    'unsealed sessions, places',
    'unsealed sessions, totals',
    'unsealed traffic',
  ]);
  expect(after).not.toEqual(before);
  expect(after).toEqual(await ask(fresh));
});

test('sealed sessions with late events are read again only after another late event', async () => {
  const ask = async (of: Analytics): Promise<unknown[]> => {
    statements = [];
    return [await of.kpis(app, RANGE), await of.locations(app, RANGE), await of.utmCampaigns(app, RANGE)];
  };
  const ofLate = () => statements.filter((each) => each.startsWith('late sessions')).sort();
  const everyOne = ['campaigns', 'places', 'totals'].map((name) => `late sessions, ${name}`);
  for (const late of [true, false, true, false]) {
    await send(late ? visit('sealed', 30 * 60, 11) : visit('one', 25, 1));
    const answers = await ask(analytics);
    expect(ofLate()).toEqual(late ? ['late sessions', ...everyOne] : []);
    expect(answers).toEqual(await ask(fresh));
  }
});

test('while the end of a range moves behind the last event, the answer stays the same', async () => {
  const ask = async (of: Analytics, to: number) => {
    const range = { from: RANGE.from, to: epochMs(to) };
    const { current } = await of.kpis(app, range);
    return [
      { ...current, to: '' },
      [...(await of.pageviews(app, range))],
      (await of.overview(app, range)).session,
    ];
  };
  const last = await ask(analytics, NOW);
  for (const laterMs of [1, 10 * 60_000, 40 * 60_000, 24 * HOUR]) {
    expect(await ask(analytics, NOW + laterMs)).toEqual(last);
  }
  // The last event is 8 minutes old.
  expect(await ask(analytics, NOW - 7 * 60_000)).toEqual(last);
  expect(await ask(analytics, NOW - 9 * 60_000)).toEqual(await ask(fresh, NOW - 9 * 60_000));
  expect(await ask(analytics, NOW - 9 * 60_000)).not.toEqual(last);
});

test('parallel questions, while events come in, count all events stored before they began', async () => {
  let stored = 5;
  for (let round = 0; round < 6; round++) {
    const asked = await Promise.all([
      ...Array.from({ length: 4 }, () => analytics.overview(app, RANGE)),
      send(visit(`more-${round}`, 10, 1), visit(`also-${round}`, 25, 2)).then(() => null),
    ]);
    for (const answer of asked) {
      if (answer === null) continue;
      const { sessions } = answer.session;
      expect(sessions).toBeGreaterThanOrEqual(stored);
      expect(sessions).toBeLessThanOrEqual(stored + 2);
    }
    stored += 2;
    await agrees();
  }
});

test('a tail of many sessions is counted', async () => {
  const many = appId(randomUUID());
  const insert = async (sessions: number, at: number): Promise<void> => {
    await db.insertFrom(
      'events',
      ['app_id', 'timestamp', 'session_id', 'started_at', 'type', 'path', 'has_context', 'visitor_id'],
      sql`SELECT {app:UUID}, fromUnixTimestamp64Milli({at:Int64}), toString(number), fromUnixTimestamp64Milli({at:Int64}), 'pageview', '/', 1, 'same'
FROM numbers({sessions:UInt64})`,
      { app: many, at, sessions },
    );
    await commitEvents(db, [many]);
  };
  await insert(10, NOW - 30 * HOUR);
  await seal({ db, only: [many] }, NOW);
  await insert(50_100, NOW - 60_000);
  for (let time = 0; time < 3; time++) {
    const { session, page } = await analytics.overview(many, RANGE);
    expect(session).toMatchObject({ sessions: 50_110, visitors: 1 });
    expect(page.entryPages).toEqual([{ path: '/', sessions: 50_110 }]);
  }
});

test("a session of a large tail that turns out to be another visitor's counts for that one", async () => {
  const large = appId(randomUUID());
  const start = NOW - 20 * 60_000;
  const insert = async (rows: Sql): Promise<void> => {
    const columns = ['session_id', 'visitor_id', 'started_at', 'timestamp'] as const;
    await db.insertFrom(
      'events',
      ['app_id', 'type', 'path', 'has_context', ...columns],
      sql`SELECT {app:UUID}, 'pageview', '/', 1, session, visitor, fromUnixTimestamp64Milli(at), fromUnixTimestamp64Milli(at + after) FROM (${rows})`,
      { app: large, start },
    );
    await commitEvents(db, [large]);
  };
  const one = (session: Sql, visitor: Sql, at: Sql, after: Sql) =>
    sql`SELECT ${session} AS session, ${visitor} AS visitor, {start:Int64} + ${at} AS at, ${after} AS after`;
  const before = sql`-30 * 3600000`;
  await insert(sql`${one(sql`concat('old ', toString(number))`, sql`toString(number)`, sql`number + ${before}`, sql`0`)} FROM numbers(3000)
UNION ALL ${one(sql`'old'`, sql`'lonely'`, before, sql`0`)}`);
  await seal({ db, only: [large] }, NOW);
  await insert(sql`${one(sql`toString(number)`, sql`toString(number % 6000)`, sql`number * 20`, sql`0`)} FROM numbers(21000)
UNION ALL ${one(sql`'changed'`, sql`'lonely'`, sql`5000`, sql`1000`)}`);

  const lastHour = { from: epochMs(NOW - HOUR), to: NOW };
  const visitors = async (of: Analytics) => (await of.overview(large, lastHour)).session;
  expect(await visitors(analytics)).toMatchObject({ sessions: 21_001, visitors: 6_001, newVisitors: 3_000 });
  await insert(one(sql`'changed'`, sql`'other'`, sql`5000`, sql`0`));
  expect(await visitors(analytics)).toMatchObject({ sessions: 21_001, visitors: 6_001, newVisitors: 3_001 });
  await insert(one(sql`'next'`, sql`'lonely'`, sql`600000`, sql`0`));
  for (const each of [analytics, fresh]) {
    expect(await visitors(each)).toMatchObject({ sessions: 21_002, visitors: 6_002, newVisitors: 3_001 });
  }
});
