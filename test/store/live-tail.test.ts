import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAnalytics } from '../../src/analytics/analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import { Memory } from '../../src/analytics/memory/memory.ts';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { type Sql, sql } from '../../src/clickhouse/sql.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { commitEvents } from '../support/ledger.ts';
import { UNTIL_CACHED } from '../support/oracle/compare.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { replaced } from '../support/replaced.ts';
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
  analytics = createAnalytics({ db });
  fresh = createAnalytics({ db, memory: new Memory(0) });
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

/**
 * Returns the statements about the tail's sessions that an overview sends, by name: some are sent at once, in any
 * order. Its answer must equal the one without a cache.
 */
async function readFor(range = RANGE): Promise<string[]> {
  statements = [];
  const answer = await analytics.overview(app, range);
  const read = [...new Set(statements.filter((each) => /^unsealed s/.test(each)))].sort();
  expect(answer).toEqual(await fresh.overview(app, range));
  return read;
}

test('sessions of the tail are read once, and again when they go on', async () => {
  await send(visit('one', 25, 2), visit('two', 20.25, 1), visit('three', 10, 3, { source: 'letter' }));
  expect(await readFor()).toEqual(['unsealed sessions, totals, lists']);
  expect(await readFor()).toEqual([]);

  await send(visit('four', 10, 1), visit('one', 25, 1));
  // A process that is alone on its store knows to which sessions the new events belong.
  expect(await readFor()).toEqual([
    'unsealed sessions, totals, lists',
    ...(db.exclusive ? [] : ['unsealed slots']),
  ]);
  expect(await readFor()).toEqual([]);

  // A range that ends before a session of the same slot starts, and one that holds it.
  for (const to of [NOW - 1_215_001, NOW - 1_215_000]) {
    const range = { from: RANGE.from, to: epochMs(to) };
    for (let time = 0; time < 3; time++) await readFor(range);
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

test('if all questions are polled, each part of the tail is read once after an event', async () => {
  const ask = async (of: Analytics): Promise<unknown[]> => {
    const answers: unknown[] = [];
    for (const one of POLLED) answers.push(await one(of));
    return answers;
  };
  for (let time = 0; time < UNTIL_CACHED; time++) await ask(analytics);
  await send(visit('one', 25, 1));
  const before = await ask(analytics);
  await send(visit('one', 25, 1));
  statements = [];
  const after = await ask(analytics);
  const ofState = statements.filter((each) => /^(snapshot|begun)/.test(each));
  // With other writers, each question reads the state before and after.
  expect(ofState).toHaveLength(db.exclusive ? 0 : 2 * POLLED.length);
  expect(statements.filter((each) => !/^(insert|snapshot|begun)/.test(each)).sort()).toEqual([
    'key tail',
    // With other writers, tails end exactly.
    ...(db.exclusive ? [] : ['parts of hours, events']),
    'unsealed sessions, totals, lists, places, campaigns',
    ...(db.exclusive ? [] : ['unsealed slots', 'unsealed traffic']),
  ]);
  expect(after).not.toEqual(before);
  expect(after).toEqual(await ask(fresh));
});

test('while the end of a range moves behind the last event, the tail is not read again', async () => {
  const readUntil = async (to: number): Promise<string[]> => {
    const range = { from: RANGE.from, to: epochMs(to) };
    statements = [];
    const ask = async (of: Analytics) => [
      await of.kpis(app, range),
      [...(await of.pageviews(app, range))],
      await of.userGrowth(app, range),
    ];
    const answers = await ask(analytics);
    const read = statements.filter((each) => /tail|unsealed/.test(each)).sort();
    expect(answers).toEqual(await ask(fresh));
    return read;
  };
  await readUntil(NOW);
  for (const laterMs of [1, 10 * 60_000, 40 * 60_000, 24 * HOUR])
    expect(await readUntil(NOW + laterMs)).toEqual([]);
  // The last event is 8 minutes old.
  expect(await readUntil(NOW - 7 * 60_000)).toEqual([]);
  expect(await readUntil(NOW - 9 * 60_000)).toEqual(['key tail']);
});

test('if each question is asked after other events, each reads what it needs', async () => {
  const readBy = async (ask: (of: Analytics) => Promise<unknown>): Promise<string[]> => {
    await send(visit('one', 25, 1));
    statements = [];
    const answer = await ask(analytics);
    const read = statements.filter((each) => each.startsWith('unsealed sessions')).sort();
    expect(answer).toEqual(await ask(fresh));
    return read;
  };
  const overview = (of: Analytics) => of.overview(app, RANGE);
  await readBy(overview);
  for (let time = 0; time < 2; time++) {
    expect(await readBy((of) => of.kpis(app, RANGE))).toEqual(['unsealed sessions, totals']);
    expect(await readBy((of) => of.locations(app, RANGE))).toEqual(['unsealed sessions, places']);
    expect(await readBy(overview)).toEqual(['unsealed sessions, totals, lists']);
  }
});

test('what is no longer asked is no longer read', async () => {
  const readAfterAnEvent = async (): Promise<string[]> => {
    await send(visit('two', 20.25, 1));
    statements = [];
    await analytics.pageviews(app, RANGE);
    await analytics.kpis(app, RANGE);
    return statements.filter((each) => each.startsWith('unsealed sessions'));
  };
  await analytics.overview(app, RANGE);
  await readAfterAnEvent();
  await readAfterAnEvent();
  expect(await readAfterAnEvent()).toEqual(['unsealed sessions, totals']);
  expect(await analytics.overview(app, RANGE)).toEqual(await fresh.overview(app, RANGE));
});

test('parallel questions, while events come in, count all events stored before they began', async () => {
  let stored = 4;
  for (let round = 0; round < 6; round++) {
    const asked = await Promise.all([
      ...Array.from({ length: 4 }, () => analytics.overview(app, RANGE)),
      send(visit(`more-${round}`, 10, 1), visit(`also-${round}`, 25, 2)).then(() => null),
    ]);
    for (const answer of asked) {
      if (answer === null) continue;
      const { sessions } = answer.session;
      expect(sessions).toBeGreaterThanOrEqual(stored + 1);
      expect(sessions).toBeLessThanOrEqual(stored + 3);
    }
    stored += 2;
    await readFor();
    expect(await readFor()).toEqual([]);
  }
});

test('a tail of too many sessions is merged in the store', async () => {
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
    statements = [];
    const { session, page } = await analytics.overview(many, RANGE);
    expect(session).toMatchObject({ sessions: 50_110, visitors: 1 });
    expect(page.entryPages).toEqual([{ path: '/', sessions: 50_110 }]);
    expect(statements).toEqual(expect.arrayContaining(['tail, lists', 'tail, totals']));
    expect(statements).not.toContain('unsealed sessions, lists');
  }
});

test('visitors of a large tail are looked up by name, whatever comes in meanwhile', async () => {
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

  // After the sessions are read, and before their visitors are looked up, one of them turns out to be another visitor's.
  let tellRead = (): void => undefined;
  const isRead = new Promise<void>((resolve) => {
    tellRead = resolve;
  });
  let looked = 0;
  const slowed = replaced(db, {
    rows: async (query, ...others) => {
      if (query.name === 'visits, last totals' && ++looked === 1) {
        await isRead;
        await insert(one(sql`'changed'`, sql`'other'`, sql`5000`, sql`0`));
      }
      const rows = await db.rows(query, ...others);
      if (query.name.startsWith('unsealed sessions')) tellRead();
      return rows;
    },
  });
  const polled = createAnalytics({ db: slowed });
  const lastHour = { from: epochMs(NOW - HOUR), to: NOW };
  const visitors = async (of: Analytics) => (await of.overview(large, lastHour)).session;
  await visitors(polled);
  expect(looked).toBeGreaterThan(0);
  expect(await visitors(polled)).toMatchObject({ sessions: 21_001, visitors: 6_001, newVisitors: 3_001 });
  await insert(one(sql`'next'`, sql`'lonely'`, sql`600000`, sql`0`));
  for (const each of [polled, fresh]) {
    expect(await visitors(each)).toMatchObject({ sessions: 21_002, visitors: 6_002, newVisitors: 3_001 });
  }
});
