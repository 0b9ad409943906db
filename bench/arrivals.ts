import { randomUUID } from 'node:crypto';
import { wallClock } from '../src/cli/wall-clock.ts';
import type { Database, Params } from '../src/clickhouse/database.ts';
import { bucket, int, ofApp } from '../src/clickhouse/literals.ts';
import { listOf, number, rowOf, text, tupleOf } from '../src/clickhouse/row.ts';
import { identifier, join, type Sql, sql } from '../src/clickhouse/sql.ts';
import type { HourCount } from '../src/domain/commits.ts';
import { DAY_MS, epochMs, floorTo, HOUR_MS, MINUTE_MS } from '../src/domain/time.ts';
import { createJournal } from '../src/ingestion/journal.ts';
import { EVENT_COLUMNS } from '../src/ingestion/journal-rows.ts';
import { BIG_APP, NOW } from './shape.ts';

/* What comes in between two questions. As the SDK sends it, each batch names its sessions' visitors and contexts. */

/** Events that arrive between two questions: ten seconds of the big app's traffic. */
const EVENTS = 90;
const SESSIONS = 10;
/** Of these, in the second half, some are late: one in a hundred is from 1 hour to 10 days ago. */
const LATE_EVENTS = 1;
const LATE_MS = { from: HOUR_MS, to: 10 * DAY_MS } as const;

/** Inserts rows with the columns of `events`, except the time of the insert. */
const insertEvents = (db: Database, rows: Sql, params: Params): Promise<void> =>
  db.insertFrom(
    'events',
    EVENT_COLUMNS,
    sql`SELECT ${join(EVENT_COLUMNS.map(identifier))} FROM (${rows})`,
    params,
  );

/**
 * Commits the events with times from `from` on that were inserted since `at`, both epoch ms. The journal of the service
 * does it, so this process knows what it has committed.
 */
async function commit(db: Database, at: number, from: number): Promise<void> {
  const rows = await db.rows({ name: 'new events', sql: newEvents(at, from), row: HOUR });
  const hours = rows.map(([kind, hour, events, oldest, newest, lastEvent, keys]): HourCount => {
    const sessions = keys.map(([id, startedAt, visitor]) => ({ id, startedAt, visitor }));
    const times = { hour, oldest, newest, lastEvent };
    return { app: BIG_APP, kind: kind as HourCount['kind'], events, ...times, sessions };
  });
  await createJournal(db).commit(randomUUID(), hours, epochMs(at));
}

const HOUR = rowOf([text, number, number, number, number, number, listOf(tupleOf([text, number, text]))]);

const newEvents = (
  at: number,
  from: number,
): Sql => sql`SELECT slice.1 AS kind, toUnixTimestamp(toStartOfHour(slice.2)) * 1000 AS hour, count(),
    toUnixTimestamp64Milli(min(slice.2)), toUnixTimestamp64Milli(max(slice.2)), toUnixTimestamp64Milli(max(timestamp)),
    groupUniqArray((session_id, toUnixTimestamp64Milli(started_at), visitor_id))
FROM events ARRAY JOIN [('event', timestamp), ('session', started_at)] AS slice
WHERE ${ofApp(BIG_APP)} AND toStartOfHour(timestamp) >= ${bucket(floorTo(from, HOUR_MS))}
    AND inserted_at >= fromUnixTimestamp64Milli(${int(at)}, 'UTC')
GROUP BY kind, hour`;

/**
 * Stores events of sessions of the last ten minutes, and new sessions of yesterday's visitors and of new ones. Their
 * times lie within ten minutes, because the clock stands still: in ten seconds, all would start in the same few ms.
 */
export async function arrive(db: Database, turn: number): Promise<void> {
  const began = wallClock();
  const params = { app: BIG_APP, now: NOW, turn };
  const insert = (replaced: Sql, drawn: Sql, ms: number, count: number) =>
    insertEvents(
      db,
      sql`WITH fromUnixTimestamp64Milli({now:Int64} - toInt64(cityHash64(e.session_id, {turn:UInt32}) % 600000), 'UTC') AS soon
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
    sql`has_context = 1 AND timestamp >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`,
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
  await commit(db, began, NOW - DAY_MS - HOUR_MS);
}

/** Sessions of some time ago go on. */
export async function arriveLate(db: Database, turn: number): Promise<void> {
  const began = wallClock();
  // A different age each time, without a pattern: steps of the golden ratio.
  const share = (turn * 0.618_033_988_75) % 1;
  const at = NOW - LATE_MS.from - Math.floor(share * (LATE_MS.to - LATE_MS.from));
  const hour = floorTo(at, HOUR_MS);
  await insertEvents(
    db,
    sql`SELECT * EXCEPT (inserted_at) REPLACE (timestamp + INTERVAL {turn:UInt32} % 1000 MILLISECOND AS timestamp)
FROM events
WHERE app_id = {app:UUID} AND toStartOfHour(timestamp) = toDateTime({hour:UInt32}, 'UTC') AND has_context = 1 AND type = 'pageview'
ORDER BY cityHash64(session_id, timestamp, {turn:UInt32}) LIMIT {count:UInt32}`,
    { app: BIG_APP, turn, hour: hour / 1000, count: LATE_EVENTS },
  );
  await commit(db, began, hour - DAY_MS);
}
