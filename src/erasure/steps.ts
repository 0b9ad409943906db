import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { join, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import type { FactKind } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import { type EpochMs, floorTo, HOUR_MS } from '../domain/time.ts';
import type { Deleted } from '../facts/reseal.ts';
import { MAX_SECONDS } from '../facts/seal-states.ts';
import { visitorOf } from '../facts/sql/session-columns.ts';
import { LEDGER_COLUMNS, ledgerBounds, ledgerDeletionRows } from '../ingestion/ledger-rows.ts';
import { sharingOf } from '../sharing/choose.ts';

/*
 * The statements of an erasure. Each may run again at any time, also after the erasure has ended: an insert has the
 * erasure as its token, and a deletion takes the sessions that the erasure lists, and of them only events that were
 * inserted until its moment. No deletion names the visitor or a session, because the engine keeps their texts.
 */

/** An erasure, with the moment until which it deletes events (the store's clock). */
export interface Listed {
  readonly app: AppId;
  readonly id: string;
  readonly until: EpochMs;
}

const SEAL = { lane: 'seal', maxSeconds: MAX_SECONDS } as const;
const SYNC = sql`SETTINGS mutations_sync = 2`;
const paramsOf = ({ app, id, until }: Listed) => ({ app, erasure: id, until });

/** Selects the rows of an erasure. */
const OF_ERASURE = sql`app_id = {app:UUID} AND erasure_id = {erasure:UUID}`;
const visitorIn = (erasures: Sql): Sql =>
  sql`(SELECT any(visitor_id) FROM ${erasures} WHERE ${OF_ERASURE} AND visitor_id != '')`;
/** Selects the events to delete, in hours that the table's order finds. */
const eventsToDelete = (list: Sql): Sql => sql`app_id = {app:UUID}
    AND inserted_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
    AND toStartOfHour(timestamp) IN (SELECT DISTINCT arrayJoin(hours) FROM ${list} WHERE ${OF_ERASURE})
    AND (started_at, session_id) IN (SELECT fromUnixTimestamp64Milli(l.started_at, 'UTC'), l.session_id FROM ${list} AS l WHERE ${OF_ERASURE})`;
const LIST = sql`erased_sessions`;
const TIMES = sql`SELECT app_id, started_at, timestamp FROM events WHERE ${eventsToDelete(LIST)}`;

/**
 * Lists the sessions that name the visitor, even if only one of their batches does. Not those from before the horizon:
 * their facts are final.
 */
export async function listSessions(db: Database, listed: Listed, horizon: EpochMs): Promise<void> {
  const named = sql`app_id = {app:UUID} AND inserted_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
    AND started_at >= fromUnixTimestamp64Milli({horizon:Int64}, 'UTC')`;
  const rows = sql`SELECT app_id, {erasure:UUID}, {until:Int64}, session_id, toUnixTimestamp64Milli(started_at),
    groupArray(toDateTime(toStartOfHour(timestamp), 'UTC'))
FROM events WHERE ${named} AND (started_at, session_id) IN
    (SELECT started_at, session_id FROM events WHERE ${named} AND has_context = 1 AND visitor_id = ${visitorIn(sql`erasures`)})
GROUP BY app_id, started_at, session_id`;
  const columns = ['app_id', 'erasure_id', 'until', 'session_id', 'started_at', 'hours'];
  const params = { ...paramsOf(listed), horizon };
  await db.insertFrom(LIST, columns, rows, params, { ...SEAL, token: `${listed.id} sessions` });
}

const OTHERS: Query<{ events: number }> = {
  name: 'erasure: other visitors',
  sql: sql`SELECT toUInt64(count()) AS events FROM events
WHERE ${eventsToDelete(LIST)} AND has_context = 1 AND visitor_id != ${visitorIn(sql`erasures`)}`,
  row: z.object({ events: z.number() }),
};

/** Returns whether some of the listed sessions also name another visitor. Call it before they are unnamed. */
export const nameOthers = async (db: Database, { app, id, until }: Listed): Promise<boolean> =>
  (await db.queryOne(OTHERS, { app, erasure: id, until }, SEAL)).events > 0;

const HOURS: Query<{ kind: FactKind; hour: number; events: number }> = {
  name: 'erasure: hours',
  sql: sql`SELECT kind, hour, events FROM
(
SELECT 'page' AS kind, toInt64(toUnixTimestamp(arrayJoin(hours))) * 1000 AS hour, toUInt64(count()) AS events
FROM ${LIST} WHERE ${OF_ERASURE} GROUP BY hour
UNION ALL
SELECT 'session', toInt64(intDiv(started_at, ${HOUR_MS}) * ${HOUR_MS}) AS hour, toUInt64(sum(length(hours))) FROM ${LIST}
WHERE ${OF_ERASURE} AND session_id != '' GROUP BY hour
)
ORDER BY hour`,
  row: z.object({ kind: z.enum(['page', 'session']), hour: z.number(), events: z.number() }),
};

/** Reads the hours of the listed events, with their number, by kind. */
export async function hoursOf(
  db: Database,
  { app, id }: Listed,
): Promise<Readonly<Record<FactKind, Deleted>>> {
  const rows = await db.query(HOURS, { app, erasure: id }, SEAL);
  const of = (kind: FactKind): Deleted => ({
    app,
    kind,
    hours: new Map(rows.filter((row) => row.kind === kind).map(({ hour, events }) => [hour, events])),
  });
  return { page: of('page'), session: of('session') };
}

const TRAFFIC = ['pageviews', 'clicks', 'errors', 'customs'] as const;

/** Takes the listed events out of all counts. The sums of whole numbers wrap, so a count is taken back like any other. */
export async function uncount(db: Database, listed: Listed): Promise<void> {
  const options = { ...SEAL, token: listed.id, about: [listed.app] };
  const params = paramsOf(listed);
  const minus = (sum: Sql): Sql => sql`toUInt64(-toInt64(${sum}))`;
  const traffic = sql`SELECT app_id, slice.1 AS grain, slice.2 AS bucket,
    ${join(TRAFFIC.map((name) => minus(sql`countIf(type = ${quoted(name.slice(0, -1))})`)))},
    ${minus(sql`countIf(type = 'engagement')`)}, ${minus(sql`sumIf(toUInt64(duration_ms), type = 'engagement')`)}
FROM events
ARRAY JOIN [
    ('utc_hour', toDateTime(toStartOfHour(timestamp, 'UTC'), 'UTC')),
    ('utc_day', toDateTime(toStartOfDay(timestamp, 'UTC'), 'UTC')),
    ('tehran_hour', toDateTime(toStartOfHour(timestamp, 'Asia/Tehran'), 'UTC')),
    ('tehran_day', toDateTime(toStartOfDay(timestamp, 'Asia/Tehran'), 'UTC'))
] AS slice
WHERE ${eventsToDelete(LIST)} GROUP BY app_id, grain, bucket`;
  const columns = ['app_id', 'grain', 'bucket', ...TRAFFIC, 'engagements', 'engaged_ms'];
  await db.insertFrom('traffic', columns, traffic, params, options);
  await db.insertFrom('ledger', LEDGER_COLUMNS, ledgerDeletionRows(TIMES), params, options);
  await sharingOf(db).countBegun(TIMES, { ...params, sign: -1 }, options);
}

/**
 * Makes the ledger's bounds of the listed hours those of the other events. It is one statement, because an hour without
 * bounds would make answers wrong.
 */
export async function correctBounds(db: Database, listed: Listed): Promise<void> {
  const { stored, beside } = db.shards;
  const list = beside(LIST);
  const starts = sql`arrayJoin(arrayConcat(hours, [toDateTime(intDiv(started_at, ${HOUR_MS}) * ${HOUR_MS / 1000}, 'UTC')]))`;
  const listedHours = sql`FROM ${list} WHERE ${OF_ERASURE} AND session_id != ''`;
  const inHours = sql`hour IN (SELECT DISTINCT ${starts} ${listedHours})`;
  // A session lasts at most 24 h, so the events of an hour's sessions lie in 25 hours.
  const others = sql`SELECT app_id, started_at, timestamp FROM ${beside('events')} WHERE app_id = {app:UUID} AND NOT (${eventsToDelete(list)})
    AND toStartOfHour(timestamp) IN (SELECT DISTINCT h + toIntervalHour(arrayJoin(range(25))) FROM (SELECT ${starts} AS h ${listedHours}))`;
  await db.command(
    'erasure: bounds',
    sql`ALTER TABLE ${stored('ledger')} UPDATE ${ledgerBounds(others, inHours)} WHERE app_id = {app:UUID} AND ${inHours} ${SYNC}`,
    paramsOf(listed),
    SEAL,
  );
}

const LEFT: Query<{ last: number }> = {
  name: 'erasure: sessions that go on',
  sql: sql`SELECT toUnixTimestamp64Milli(max(started_at)) AS last FROM events WHERE app_id = {app:UUID}
    AND (started_at, session_id) IN (SELECT fromUnixTimestamp64Milli(l.started_at, 'UTC'), l.session_id FROM ${LIST} AS l WHERE ${OF_ERASURE})`,
  row: z.object({ last: z.number() }),
};

/** Deletes the listed events, and their sessions. */
export async function deleteEvents(db: Database, listed: Listed): Promise<void> {
  const params = paramsOf(listed);
  const { stored, beside } = db.shards;
  const list = beside(LIST);
  await db.command(
    'erasure: events',
    sql`ALTER TABLE ${stored('events')} DELETE WHERE ${eventsToDelete(list)} ${SYNC}`,
    params,
    SEAL,
  );
  await db.command(
    'erasure: sessions',
    sql`ALTER TABLE ${stored('sessions')} DELETE WHERE app_id = {app:UUID} AND (started_at, session) IN
    (SELECT fromUnixTimestamp64Milli(l.started_at, 'UTC'), sipHash64(l.session_id) FROM ${list} AS l WHERE ${OF_ERASURE}) ${SYNC}`,
    params,
    SEAL,
  );
  // A session got new events meanwhile: its row in `sessions` may be gone, so it is merged from its events.
  const { last } = await db.queryOne(LEFT, params, SEAL);
  if (last === 0) return;
  const row = { app_id: listed.app, kept_from: floorTo(last, HOUR_MS) + HOUR_MS };
  await db.insert('kept_sessions', [row], { lane: 'seal', about: [listed.app] });
}

/** Takes the visitor's id off the rows that stay from before the horizon: figures, and raw events that nothing reads. */
export async function unname(db: Database, listed: Listed, horizon: EpochMs): Promise<void> {
  if (horizon === 0) return;
  const { stored, beside } = db.shards;
  const visitor = visitorIn(beside('erasures'));
  const params = { app: listed.app, erasure: listed.id, horizon };
  const nobody = sql`concat('erased ', toString({erasure:UUID}))`;
  const facts = sql`app_id = {app:UUID} AND visitor = ${visitorOf(visitor)} AND started_at < {horizon:Int64}`;
  const started = sql`started_at < fromUnixTimestamp64Milli({horizon:Int64}, 'UTC')`;
  const ofVisitor = sql`SELECT started_at, session_id FROM ${beside('events')}
    WHERE app_id = {app:UUID} AND has_context = 1 AND visitor_id = ${visitor} AND ${started}`;
  for (const [table, change] of [
    // While the events are found by the visitor.
    [
      'events',
      sql`UPDATE properties = '' WHERE app_id = {app:UUID} AND properties != '' AND ${started} AND (started_at, session_id) IN (${ofVisitor})`,
    ],
    ['visitor_sessions', sql`DELETE WHERE ${facts}`],
    ['utm_facts', sql`UPDATE visitor = ${visitorOf(nobody)} WHERE ${facts}`],
    ['session_facts', sql`UPDATE visitor = ${visitorOf(nobody)} WHERE ${facts}`],
    [
      'events',
      sql`UPDATE visitor_id = ${nobody} WHERE app_id = {app:UUID} AND has_context = 1 AND visitor_id = ${visitor} AND ${started}`,
    ],
    ['sessions', sql`DELETE WHERE app_id = {app:UUID} AND visitor.2 = ${visitor} AND ${started}`],
  ] as const) {
    await db.command(
      `erasure: ${table} before the horizon`,
      sql`ALTER TABLE ${stored(table)} ${change} ${SYNC}`,
      params,
      SEAL,
    );
  }
}

const SET_ASIDE: Query<{ batches: number }> = {
  name: 'erasure: batches that are put aside',
  sql: sql`SELECT toUInt32(count()) AS batches FROM ingest_set_aside WHERE app_id = {app:UUID} AND position(rows, {named:String}) > 0`,
  row: z.object({ batches: z.number() }),
};

/** Deletes the visitor's rows of the batches that were put aside. */
export async function deleteSetAside(db: Database, { app, id }: Listed, visitor: string): Promise<void> {
  const { batches } = await db.queryOne(SET_ASIDE, { app, named: JSON.stringify(visitor) }, SEAL);
  if (batches === 0) return;
  // Each line is the inner part of a JSON object. The text of the statement holds only a salted hash of the visitor.
  const field = (name: string): Sql => sql`JSONExtractString(concat('{', line), ${quoted(name)})`;
  const own = sql`SHA256(concat({erasure:String}, ${field('visitor_id')})) = unhex({visitor:String})`;
  const others = sql`arrayFilter(line -> NOT ${own}, splitByChar('\\n', rows))`;
  const params = {
    app,
    erasure: id,
    visitor: createHash('sha256')
      .update(id + visitor)
      .digest('hex'),
  };
  const events = sql`toUInt32(arraySum(line -> length(JSONExtractArrayRaw(concat('{', line), 'offsets')), ${others}))`;
  for (const change of [
    sql`UPDATE rows = arrayStringConcat(${others}, '\\n'), events = ${events} WHERE app_id = {app:UUID} AND arrayExists(line -> ${own}, splitByChar('\\n', rows))`,
    sql`DELETE WHERE app_id = {app:UUID} AND rows = ''`,
  ]) {
    await db.command(
      'erasure: what is put aside',
      sql`ALTER TABLE ingest_set_aside ${change} ${SYNC}`,
      params,
      SEAL,
    );
  }
}
