import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import type { Database } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import type { TestStore } from '../support/store.ts';
import { EVENT_COLUMNS, storeOfTwins } from '../support/twins.ts';
import { ingestionOn, NOW, REQUEST } from './ingestion-support.ts';

/* Keys that are too long for memory: the store sorts them for each question, in files if need be. */

const HOUR = 3_600_000;
const DAYS = 3;
/** 9 MB of text: a list of up to 8 MiB is kept. */
const PATHS = 4_500;
const PATH_LENGTH = 2_000;
const SESSIONS = 3_000;

let store: TestStore;
let analytics: Analytics;
/** `twin` is never sealed: raw events answer for it. */
const app = appId(randomUUID());
const twin = appId(randomUUID());

beforeAll(async () => {
  ({ store, analytics } = await storeOfTwins({ app, twin }, insertPages, NOW));
});
afterAll(() => store.close());
afterEach(() => vi.restoreAllMocks());

const from = epochMs(NOW - (DAYS - 1) * 24 * HOUR + 1_234_567);
const RANGES = {
  'hours before the watermark': { from, to: epochMs(NOW - 30 * HOUR + 99) },
  'a range until now': { from, to: NOW },
};

const QUESTIONS: Readonly<
  Record<string, (of: AppId, range: (typeof RANGES)[keyof typeof RANGES]) => Promise<unknown>>
> = {
  pageviews: async (of, range) => [...(await analytics.pageviews(of, range))],
  'first pageviews': async (of, range) => [...(await analytics.pageviews(of, range, 10))],
  timeSpent: async (of, range) => [...(await analytics.timeSpent(of, range))],
  overview: (of, range) => analytics.overview(of, range),
};

/** Asks so many times: the first question comes from the store, later ones from memory if it holds the rows. */
async function expectSame(times: number): Promise<void> {
  for (const [name, ask] of Object.entries(QUESTIONS)) {
    for (const [where, range] of Object.entries(RANGES)) {
      const expected = await ask(twin, range);
      for (let time = 0; time < times; time++)
        expect(await ask(app, range), `${name}, ${where}`).toEqual(expected);
    }
  }
}

test('the rows are counted right, and read for memory once', async () => {
  await expectSame(3);
  const forMemory = vi.spyOn(store.db, 'rowsUpTo');
  const lists = vi.spyOn(store.db, 'list');
  await expectSame(1);
  const sealed = forMemory.mock.calls.map(([{ name }]) => name).filter((name) => name === 'sealed keys');
  expect(sealed).toEqual([]);
  expect(lists.mock.calls.map(([{ name }]) => name)).toEqual(expect.arrayContaining(['keys', 'top keys']));
});

test('sessions that continue in the tail count once', async () => {
  const unasked = steadyAnalytics({ db: store.db });
  const pageviews = async (of: AppId) => [...(await unasked.pageviews(of, RANGES['a range until now']))];
  const expected = await pageviews(twin);
  for (let time = 0; time < 2; time++) expect(await pageviews(app)).toEqual(expected);
});

test.each([2, 5_000])('with a late session of %i pages, too', async (pages) => {
  const at = NOW - 40 * HOUR;
  for (const id of [app, twin]) {
    const events = Array.from({ length: pages }, (_, i) => ({
      type: 'pageview',
      timestamp: new Date(at + i).toISOString(),
      path: pathOf(i),
    }));
    const session = { id: `late-${pages}`, visitorId: 'late', startedAt: new Date(at).toISOString(), events };
    const accepted = await ingestionOn(store.db).accept(
      { id, domain: 'https://shop.example' },
      { batchId: randomUUID(), sessions: [session] },
      REQUEST,
    );
    expect(accepted.rejected).toEqual([]);
  }
  await expectSame(1);
});

const pathOf = (page: number): string => `/${page}/${'x'.repeat(PATH_LENGTH)}`;

/** Sessions that have seen many pages before the watermark, and see them again after it. */
const CONTINUING = 10;
const PAGES_EACH = 600;

async function insertContinuing(db: Database, id: AppId): Promise<void> {
  await db.insertFrom(
    'events',
    EVENT_COLUMNS,
    sql`WITH number % {sessions:UInt32} AS session, intDiv(number, {sessions:UInt32}) % {pages:UInt32} AS page,
    intDiv(number, {sessions:UInt32} * {pages:UInt32}) AS turn
SELECT {app:UUID}, fromUnixTimestamp64Milli(if(turn = 0, {before:Int64}, {after:Int64}) + toInt64(page), 'UTC'),
    concat('continuing-', toString(session)), fromUnixTimestamp64Milli({before:Int64} - 60000, 'UTC'), 'pageview',
    concat('/', toString(session * {pages:UInt32} + page), '/', repeat('x', {length:UInt32})), 0, turn = 0 AND page = 0,
    if(turn = 0 AND page = 0, concat('visitor-', toString(session)), '')
FROM numbers({count:UInt64})`,
    {
      app: id,
      before: NOW - 6 * HOUR,
      after: NOW - 10_000,
      sessions: CONTINUING,
      pages: PAGES_EACH,
      length: PATH_LENGTH,
      count: 2 * CONTINUING * PAGES_EACH,
    },
  );
}

/** Inserts sessions of two pageviews and an engagement each, over all days, and those that continue. */
async function insertPages(db: Database, id: AppId): Promise<void> {
  await insertContinuing(db, id);
  await db.insertFrom(
    'events',
    EVENT_COLUMNS,
    sql`WITH intDiv(number, 3) AS session, number % 3 AS turn, {from:Int64} + toInt64(session) * {step:Int64} AS started
SELECT {app:UUID}, fromUnixTimestamp64Milli(started + turn * 60000, 'UTC'), concat('session-', toString(session)),
    fromUnixTimestamp64Milli(started, 'UTC'), if(turn = 2, 'engagement', 'pageview'),
    concat('/', toString((session * 2 + turn) % {paths:UInt32}), '/', repeat('x', {length:UInt32})),
    if(turn = 2, 3000, 0), turn = 0, if(turn = 0, concat('visitor-', toString(session % 900)), '')
FROM numbers({count:UInt64})`,
    {
      app: id,
      from: NOW - DAYS * 24 * HOUR,
      step: Math.floor((DAYS * 24 * HOUR) / SESSIONS),
      paths: PATHS,
      length: PATH_LENGTH,
      count: 3 * SESSIONS,
    },
  );
}
