import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { identifier, type Sql, sql } from '../clickhouse/sql.ts';
import { type EpochMs, epochMs, extentOf, type Range } from '../domain/time.ts';
import type { SdkApp } from '../metadata/types.ts';
import { formerLogSessionId } from './log-sessions.ts';
import type { ValidSession } from './validate.ts';
import type { ValidEvent } from './validate-event.ts';
import { LOOK_BACK_MS, type StoredRequests, sessionIdsOf } from './visits.ts';
import { countEvents } from './wire.ts';

/* Finds which events of an import are stored already. */

/** Imports use the writer's lane: a reader's time limit is too short for them. */
const IMPORT = { lane: 'write' } as const;

type Identity = Pick<ValidEvent, 'timestamp' | 'type' | 'path' | 'label' | 'durationMs' | 'properties'>;

/** The identity of an event within an app: its stored fields except the context. */
export const eventIdentity = (session: { id: string; startedAt: EpochMs }, event: Identity): string =>
  JSON.stringify([
    session.id,
    session.startedAt,
    event.timestamp,
    event.type,
    event.path,
    event.label,
    event.durationMs,
    event.properties,
  ]);

/** The properties of custom events that a version without properties stored: nobody knows whether they were sent with some. */
const UNKNOWN = sql`?`;

const instant = (name: 'from' | 'to' | 'first' | 'last' | 'kept'): Sql =>
  sql`fromUnixTimestamp64Milli({${identifier(name)}:Int64}, 'UTC')`;
/**
 * The raw table is sorted by hour. The engine does not infer a bound on the hour from a bound on the time.
 */
const OF_APP_IN_RANGE = sql`app_id = {app:UUID}
      AND toStartOfHour(timestamp) >= toStartOfHour(${instant('from')}) AND toStartOfHour(timestamp) <= toStartOfHour(${instant('to')})
      AND timestamp >= ${instant('from')} AND timestamp <= ${instant('to')}`;

const HAS_SESSIONS: Query<{ events: number }> = {
  name: 'import: events of the same time',
  sql: sql`
    SELECT toUInt32(count()) AS events FROM
    (
      SELECT 1 FROM events
      WHERE ${OF_APP_IN_RANGE} AND started_at >= ${instant('first')} AND started_at <= ${instant('last')} LIMIT 1
    )`,
  row: z.object({ events: z.number() }),
};

/** When properties began to be stored, by the store's clock. */
const KEPT: Query<{ kept: number }> = {
  name: 'import: since when properties are stored',
  sql: sql`SELECT toUnixTimestamp64Milli(max(applied_at)) AS kept FROM schema_migrations WHERE name = 'properties'`,
  row: z.object({ kept: z.number() }),
};

type StoredRow = Identity & { id: string; startedAt: EpochMs; events: number };

const storedWhere = (name: string, ofSessions: Sql): Query<StoredRow> => ({
  name,
  sql: sql`
    SELECT
      session_id AS id,
      toUnixTimestamp64Milli(started_at) AS startedAt,
      toUnixTimestamp64Milli(timestamp) AS at,
      toString(type) AS kind,
      toString(path) AS page,
      toString(label) AS name,
      duration_ms AS ms,
      if(type = 'custom' AND inserted_at < ${instant('kept')}, '${UNKNOWN}', properties) AS more,
      toUInt32(count()) AS events
    FROM events
    WHERE ${OF_APP_IN_RANGE}
      AND ${ofSessions}
    GROUP BY ALL`,
  row: z
    .object({
      id: z.string(),
      startedAt: z.number(),
      at: z.number(),
      kind: z.enum(['pageview', 'click', 'error', 'engagement', 'custom']),
      page: z.string(),
      name: z.string(),
      ms: z.number(),
      more: z.string(),
      events: z.number(),
    })
    .transform(({ id, startedAt, at, kind, page, name, ms, more, events }) => ({
      id,
      startedAt: startedAt as EpochMs,
      timestamp: at as EpochMs,
      type: kind,
      path: page,
      label: name,
      durationMs: ms,
      properties: more,
      events,
    })),
});

const STORED = storedWhere('import: events that are there', sql`session_id IN {ids:Array(String)}`);

/** Ids of log sessions are hashes. Their first 32 bits tell nearly all of them apart, and make a shorter statement. */
const STORED_VISITS = storedWhere(
  'import: requests that are there',
  sql`reinterpretAsUInt32(reverse(unhex(left(session_id, 8)))) IN {tags:Array(UInt32)}`,
);
const tagOf = (id: string): number => Number.parseInt(id.slice(0, 8), 16);

/** Session ids per statement. To a server they travel in the URL, and not every proxy accepts long URLs. */
const IDS_PER_QUERY = { embedded: 2_000, server: 100 } as const;
const TAGS_PER_QUERY = { embedded: 40_000, server: 300 } as const;

const sizeOf = (db: Database, most: { readonly embedded: number; readonly server: number }): number =>
  db.exclusive ? most.embedded : most.server;

/** Skips the count if there is nothing in the range, as in a first import in the order of time. */
async function hasSessions(db: Database, app: SdkApp, events: Range, starts: Range): Promise<boolean> {
  const params = { app: app.id, ...events, first: starts.from, last: starts.to };
  return (await db.queryOne(HAS_SESSIONS, params, IMPORT)).events > 0;
}

/** How often an event is stored, by `eventIdentity`. Events that are not stored are left out. */
export type StoredCounts = ReadonlyMap<string, number>;

/** Returns how often an event is stored. One with unknown properties counts as one with these. */
export function storedTimes(there: StoredCounts, session: ValidSession, event: ValidEvent): number {
  const own = there.get(eventIdentity(session, event)) ?? 0;
  if (event.type !== 'custom') return own;
  return own + (there.get(eventIdentity(session, { ...event, properties: UNKNOWN })) ?? 0);
}

/** Counts how often each event of `sessions` is stored. */
export async function countStored(
  db: Database,
  app: SdkApp,
  sessions: readonly ValidSession[],
): Promise<StoredCounts> {
  const counts = new Map<string, number>();
  if (countEvents(sessions) === 0) return counts;
  const starts = extentOf(sessions.map(({ startedAt }) => startedAt));
  if (!(await hasSessions(db, app, extentOfEvents(sessions), starts))) return counts;
  const { kept } = await db.queryOne(KEPT, {}, IMPORT);
  const size = sizeOf(db, IDS_PER_QUERY);
  for (let i = 0; i < sessions.length; i += size) {
    const asked = sessions.slice(i, i + size);
    const ids = [...new Set(asked.map(({ id }) => id))];
    const params = { app: app.id, ...extentOfEvents(asked), ids, kept };
    for (const row of await db.query(STORED, params, IMPORT)) {
      counts.set(eventIdentity(row, row), row.events);
    }
  }
  return counts;
}

/** Finds the stored requests of the visitors of `visits` that matter for `settleVisits`. */
export async function storedVisits(
  db: Database,
  app: SdkApp,
  visits: readonly ValidSession[],
): Promise<Map<string, StoredRequests[]>> {
  const found = new Map<string, StoredRequests[]>();
  if (countEvents(visits) === 0) return found;
  const { from: first, to } = extentOfEvents(visits);
  const from = epochMs(first - LOOK_BACK_MS.requests);
  const starts = { from: epochMs(from - LOOK_BACK_MS.sessions), to };
  if (!(await hasSessions(db, app, { from, to }, starts))) return found;
  const visitors = new Map<string, string>();
  for (const { visitorId, startedAt, events } of visits) {
    const ids = sessionIdsOf(visitorId, startedAt, events.at(-1)?.timestamp ?? startedAt);
    for (const id of [...ids, formerLogSessionId(visitorId, startedAt)]) visitors.set(id, visitorId);
  }
  const tags = [...new Set([...visitors.keys()].map(tagOf))];
  const size = sizeOf(db, TAGS_PER_QUERY);
  for (let i = 0; i < tags.length; i += size) {
    // Visits are pageviews, which have no properties.
    const params = { app: app.id, from, to, tags: tags.slice(i, i + size), kept: 0 };
    for (const row of await db.query(STORED_VISITS, params, IMPORT)) {
      const visitor = visitors.get(row.id);
      if (visitor === undefined) continue;
      const others = found.get(visitor);
      if (others === undefined) found.set(visitor, [row]);
      else others.push(row);
    }
  }
  return found;
}

const extentOfEvents = (sessions: readonly ValidSession[]): Range =>
  extentOf(sessions.flatMap(({ events }) => events.map(({ timestamp }) => timestamp)));
