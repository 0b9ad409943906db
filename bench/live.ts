import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createAnalytics } from '../src/analytics/analytics.ts';
import { Memory } from '../src/analytics/memory.ts';
import type { Analytics } from '../src/analytics/results.ts';
import { type Database, openDatabase, type Params } from '../src/clickhouse/database.ts';
import { identifier, join as listed, type Sql, sql } from '../src/clickhouse/sql.ts';
import { appId } from '../src/domain/ids.ts';
import { DAY_MS, floorTo, HOUR_MS, MINUTE_MS } from '../src/domain/time.ts';
import { createSealer } from '../src/facts/sealer.ts';
import { EVENT_COLUMNS } from '../src/ingestion/journal-rows.ts';
import { removeFolder } from '../src/remove-folder.ts';
import { commitEvents } from '../test/support/ledger.ts';
import type { Case } from './cases.ts';
import { createRawAnalytics } from './raw/analytics.ts';
import type { Recording } from './recording.ts';
import { BIG_APP, NOW } from './shape.ts';
import { timed } from './statistics.ts';

/** Measurements of a case while events arrive. */
export interface Live {
  readonly case: Case;
  readonly ms: number[];
  /** While some of what comes in is late, and the sealing job runs. */
  readonly lateMs: number[];
  equal: boolean;
}

interface How {
  readonly runs: number;
  /** From the arrival of events to the question. */
  readonly pauseMs: number;
  readonly factsCacheBytes: number;
}

/** Events that arrive between two questions: ten seconds of the big app's traffic. */
const EVENTS = 90;
const SESSIONS = 10;
/** Of these, in the second half, some are late: one in a hundred is from 1 hour to 10 days ago. */
const LATE_EVENTS = 1;
const LATE_MS = { from: HOUR_MS, to: 10 * DAY_MS } as const;
/** The first of the small ones. */
const SMALL_APP = appId('5a110000-0000-4000-8000-000000000001');
/** Most merges after an insert are done by then. */
export const MERGES_MS = 1_000;
/** The number of questions before the measurement, so that all caches are filled. */
const WARM_UP = 4;

/**
 * Asks the questions that see the last events, each after more events have arrived. Uses a copy of the data
 * set, which is deleted afterwards. At the end the answers are compared with the raw ones.
 */
export async function measureLive(
  recording: Recording,
  folder: string,
  cases: readonly Case[],
  how: How,
): Promise<readonly Live[]> {
  const copy = mkdtempSync(join(folder, '..', 'live-'));
  try {
    recording.progress.say('live: copying the data set');
    cpSync(folder, copy, { recursive: true });
    const db = await openDatabase({ kind: 'embedded', dataDir: copy, database: 'analytics' });
    try {
      return await askedLive(recording, db, cases, how);
    } finally {
      await db.close();
    }
  } finally {
    removeFolder(copy);
  }
}

async function askedLive(
  recording: Recording,
  db: Database,
  cases: readonly Case[],
  { runs, pauseMs, factsCacheBytes }: How,
): Promise<readonly Live[]> {
  const { progress } = recording;
  const analytics = createAnalytics({ db, memory: new Memory(factsCacheBytes) });
  const raw = createRawAnalytics(db);
  const live = cases
    .filter(({ range }) => range === 'ending now' || range === 'fixed')
    .map((entry): Live => ({ case: entry, ms: [], lateMs: [], equal: true }));
  for (const { case: entry } of live) for (let time = 0; time < WARM_UP; time++) await entry.ask(analytics);
  const compare = async (): Promise<void> => {
    for (const seen of live) {
      if (recording.stopping) return;
      progress.say(`live: the raw answer to ${seen.case.endpoint}`);
      seen.equal &&= isDeepStrictEqual(await seen.case.ask(analytics), await seen.case.ask(raw));
    }
  };
  progress.begin('live', runs * live.length);
  for (let round = 0; round < runs; round++) {
    for (const [i, { case: entry, ms }] of inTurn(live, round).entries()) {
      if (recording.stopping) return live;
      progress.step(entry.endpoint);
      await arrive(db, round * live.length + i);
      await whileMerging(analytics, pauseMs);
      ms.push((await timed(() => entry.ask(analytics))).ms);
    }
  }
  await compare();
  const sealer = createSealer({ db, clock: () => NOW, log: { info: () => undefined, warn: console.log } });
  sealer.start();
  progress.begin('late', runs * live.length);
  for (let round = 0; round < runs; round++) {
    for (const [i, { case: entry, lateMs }] of inTurn(live, round).entries()) {
      if (recording.stopping) break;
      progress.step(entry.endpoint);
      const turn = (runs + round) * live.length + i;
      await arrive(db, turn);
      await arriveLate(db, turn);
      await whileMerging(analytics, pauseMs);
      lateMs.push((await timed(() => entry.ask(analytics))).ms);
    }
  }
  await sealer.stop();
  await compare();
  return live;
}

/**
 * Returns all entries, beginning with another one in each round. The engine merges parts after every tenth insert or so:
 * in the same order, one and the same question would pay for that in every round.
 */
const inTurn = <Entry>(entries: readonly Entry[], round: number): readonly Entry[] => {
  const first = round % entries.length;
  return [...entries.slice(first), ...entries.slice(0, first)];
};

/**
 * Keeps the process busy, as other pollers would. After a second of sleep the processor is slow at first, and
 * a question takes twice the time.
 */
async function whileMerging(analytics: Analytics, pauseMs: number): Promise<void> {
  const end = performance.now() + pauseMs;
  while (performance.now() < end) await analytics.overview(SMALL_APP, { from: null, to: null });
}

/** Inserts rows with the columns of `events`, except the time of the insert. */
const insertEvents = (db: Database, rows: Sql, params: Params): Promise<void> =>
  db.insertFrom(
    'events',
    EVENT_COLUMNS,
    sql`SELECT ${listed(EVENT_COLUMNS.map(identifier))} FROM (${rows})`,
    params,
  );

/**
 * Stores events of sessions of the last ten minutes, and new sessions of yesterday's visitors and of new
 * ones.
 */
async function arrive(db: Database, turn: number): Promise<void> {
  const params = { app: BIG_APP, now: NOW, turn };
  const insert = (replaced: Sql, drawn: Sql, ms: number, count: number) =>
    insertEvents(
      db,
      sql`WITH fromUnixTimestamp64Milli({now:Int64} - toInt64(cityHash64(e.session_id, {turn:UInt32}) % 5000), 'UTC') AS soon
SELECT * EXCEPT (inserted_at) REPLACE (${replaced})
FROM
(
    SELECT * FROM events
    WHERE app_id = {app:UUID} AND toStartOfHour(timestamp) = toDateTime({hour:UInt32}, 'UTC') AND ${drawn}
    ORDER BY cityHash64(session_id, timestamp, {turn:UInt32}) LIMIT {count:UInt32}
) AS e`,
      { ...params, hour: floorTo(ms, HOUR_MS) / 1000, since: NOW - 10 * MINUTE_MS, count },
    );
  await insert(
    sql`greatest(e.started_at, soon) AS timestamp`,
    sql`has_context = 0 AND timestamp >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`,
    NOW,
    EVENTS,
  );
  await insert(
    sql`soon AS timestamp, soon AS started_at, concat('live ', toString({turn:UInt32}), e.session_id) AS session_id,
    if(cityHash64(e.visitor_id) % 3 = 0, concat(e.visitor_id, ' ', toString({turn:UInt32})), e.visitor_id) AS visitor_id`,
    sql`has_context = 1`,
    NOW - DAY_MS,
    SESSIONS,
  );
  // The sessions began within a day.
  await commitEvents(db, [BIG_APP], NOW - DAY_MS - HOUR_MS);
}

/** Sessions of some time ago go on. */
async function arriveLate(db: Database, turn: number): Promise<void> {
  // A different age each time, without a pattern: steps of the golden ratio.
  const share = (turn * 0.618_033_988_75) % 1;
  const at = NOW - LATE_MS.from - Math.floor(share * (LATE_MS.to - LATE_MS.from));
  const hour = floorTo(at, HOUR_MS);
  await insertEvents(
    db,
    sql`SELECT * EXCEPT (inserted_at) REPLACE (timestamp + INTERVAL {turn:UInt32} % 1000 MILLISECOND AS timestamp)
FROM events
WHERE app_id = {app:UUID} AND toStartOfHour(timestamp) = toDateTime({hour:UInt32}, 'UTC') AND has_context = 0 AND type = 'pageview'
ORDER BY cityHash64(session_id, timestamp, {turn:UInt32}) LIMIT {count:UInt32}`,
    { app: BIG_APP, turn, hour: hour / 1000, count: LATE_EVENTS },
  );
  await commitEvents(db, [BIG_APP], hour - DAY_MS);
}
