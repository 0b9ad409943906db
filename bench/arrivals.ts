import { randomUUID } from 'node:crypto';
import { wallClock } from '../src/cli/wall-clock.ts';
import type { Database } from '../src/clickhouse/database.ts';
import { bucket, int, ofApp } from '../src/clickhouse/literals.ts';
import { number, rowOf, text } from '../src/clickhouse/row.ts';
import { identifier, join, type Sql, sql } from '../src/clickhouse/sql.ts';
import type { HourCount } from '../src/domain/hour-count.ts';
import { DAY_MS, floorTo, HOUR_MS, MINUTE_MS } from '../src/domain/time.ts';
import { createJournal } from '../src/ingestion/journal.ts';
import { EVENT_COLUMNS } from '../src/ingestion/journal-rows.ts';
import { BIG_APP, NOW } from './shape.ts';

/* What comes in between two questions. As the SDK sends it, each batch names its sessions' visitors and contexts. */

/** Ten seconds of the big app's traffic: events of sessions that go on, and new sessions. */
const EVENTS = 90;
const SESSIONS = 10;
/** One in a hundred is late: from 1 hour to 10 days ago. */
const LATE_EVENTS = 1;
const LATE_MS = { from: HOUR_MS, to: 10 * DAY_MS } as const;

const THIS_HOUR = floorTo(NOW, HOUR_MS);

/** Copies of rows of `events` in an hour. */
interface Copies {
  readonly hour: number;
  /** SQL condition on the rows to copy; each is a pageview with a context. */
  readonly among: Sql;
  readonly count: number;
  /** SQL of the columns that differ from the row. `soon` is an instant of the last minutes before `NOW`. */
  readonly changed: Sql;
}

/**
 * Stores what comes in, in one flush: events of sessions of the last ten minutes, and new sessions of yesterday's visitors
 * and of new ones. With `late`, an event of an old session, too. The times lie within ten minutes, because the clock stands
 * still: in ten seconds, all sessions would start in the same few ms.
 */
export async function arrive(db: Database, turn: number, late = false): Promise<void> {
  // A different age each time, without a pattern: steps of the golden ratio.
  const share = (turn * 0.618_033_988_75) % 1;
  const lateHour = floorTo(NOW - LATE_MS.from - Math.floor(share * (LATE_MS.to - LATE_MS.from)), HOUR_MS);
  const copies: Copies[] = [
    {
      hour: THIS_HOUR,
      among: sql`timestamp >= fromUnixTimestamp64Milli(${int(NOW - 10 * MINUTE_MS)}, 'UTC')`,
      count: EVENTS,
      changed: sql`greatest(started_at, soon) AS timestamp`,
    },
    {
      hour: floorTo(NOW - DAY_MS, HOUR_MS),
      among: sql`true`,
      count: SESSIONS,
      changed: sql`soon AS timestamp, soon AS started_at, concat('live ', toString({turn:UInt32}), session_id) AS session_id,
        if(cityHash64(visitor_id) % 3 = 0, concat(visitor_id, ' ', toString({turn:UInt32})), visitor_id) AS visitor_id`,
    },
  ];
  if (late) {
    const changed = sql`timestamp + INTERVAL {turn:UInt32} % 1000 MILLISECOND AS timestamp`;
    copies.push({ hour: lateHour, among: sql`true`, count: LATE_EVENTS, changed });
  }
  const began = wallClock();
  await db.insertFrom('events', EVENT_COLUMNS, join(copies.map(copied), sql`\nUNION ALL\n`), { turn });
  await commit(db, began, late ? [THIS_HOUR, lateHour] : [THIS_HOUR]);
}

const copied = ({
  hour,
  among,
  count,
  changed,
}: Copies): Sql => sql`SELECT ${join(EVENT_COLUMNS.map(identifier))} FROM
(
    WITH fromUnixTimestamp64Milli(${int(NOW)} - toInt64(cityHash64(e.session_id, {turn:UInt32}) % ${int(10 * MINUTE_MS)}), 'UTC') AS soon
    SELECT * REPLACE (${changed}) FROM
    (
        SELECT * FROM events
        WHERE ${ofApp(BIG_APP)} AND toStartOfHour(timestamp) = ${bucket(hour)} AND has_context = 1 AND type = 'pageview' AND ${among}
        ORDER BY cityHash64(session_id, timestamp, {turn:UInt32}) LIMIT ${int(count)}
    ) AS e
)`;

/**
 * Commits the events of these hours that were inserted since `at` (epoch ms), as the service does.
 */
async function commit(db: Database, at: number, hours: readonly number[]): Promise<void> {
  const rows = await db.rows({ name: 'new events', sql: newEvents(at, hours), row: HOUR });
  const counts = rows.map(([kind, hour, events, oldest, newest, lastEvent]): HourCount => {
    const times = { hour, oldest, newest, lastEvent };
    return { app: BIG_APP, kind: kind as HourCount['kind'], events, ...times };
  });
  await createJournal(db).commit(randomUUID(), counts);
}

const HOUR = rowOf([text, number, number, number, number, number]);

const newEvents = (
  at: number,
  hours: readonly number[],
): Sql => sql`SELECT slice.1 AS kind, toUnixTimestamp(toStartOfHour(slice.2)) * 1000 AS hour, count(),
    toUnixTimestamp64Milli(min(slice.2)), toUnixTimestamp64Milli(max(slice.2)), toUnixTimestamp64Milli(max(timestamp))
FROM events ARRAY JOIN [('event', timestamp), ('session', started_at)] AS slice
WHERE ${ofApp(BIG_APP)} AND toStartOfHour(timestamp) IN (${join(hours.map(bucket))})
    AND inserted_at >= fromUnixTimestamp64Milli(${int(at)}, 'UTC')
GROUP BY kind, hour`;
