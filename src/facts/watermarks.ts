import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import type { AppId } from '../domain/ids.ts';
import { type EpochMs, epochMs, HOUR_MS, type Range } from '../domain/time.ts';

/** Facts by the time of events (pages, errors, clicks) and facts by the start of sessions are sealed apart. */
export type FactKind = 'page' | 'session';

/** Before these instants (whole UTC hours) facts answer, from them on raw rows do; 0 where nothing is sealed. */
export type Watermarks = { readonly [Kind in FactKind]: EpochMs };

/** What an answer rests on: events by their own time, and events by the start of their session; null for none. */
export interface Scope {
  readonly events: Range | null;
  readonly sessions: Range | null;
}

/** An app's data at a moment. */
export interface Snapshot {
  readonly watermarks: Watermarks;
  /**
   * Names what the facts below each watermark hold: how far they go, and how many events they hold, of which there are only ever
   * more. The same name means the same facts. Null where some of what was sealed is stale.
   */
  readonly facts: { readonly [Kind in FactKind]: string | null };
  /**
   * Events in the scope's hours, by their own time and by their session's. Events are only ever added: where both
   * numbers are the same, so is the answer.
   */
  readonly version: readonly [number, number];
  /** When the app's newest event was stored; null without any. */
  readonly asOf: EpochMs | null;
}

const ROW = z.object({
  pageUntil: z.number(),
  pageLedger: z.number(),
  pageSealed: z.number(),
  sessionUntil: z.number(),
  sessionLedger: z.number(),
  sessionSealed: z.number(),
  inEvents: z.number(),
  inSessions: z.number(),
  hours: z.number(),
  asOf: z.number(),
});

/** Published watermarks, the events below them in the ledger and in the facts, and the events in the scope. */
const SNAPSHOT: Query<z.infer<typeof ROW>> = {
  name: 'snapshot',
  sql: `WITH
    (
        SELECT (argMaxIf(sealed_until, version, kind = 'page'), argMaxIf(sealed_until, version, kind = 'session'))
        FROM sealed_apps WHERE app_id = {app:UUID}
    ) AS until,
    (
        SELECT (sumIf(events, kind = 'page' AND toUnixTimestamp(hour) * 1000 < until.1),
                sumIf(events, kind = 'session' AND toUnixTimestamp(hour) * 1000 < until.2))
        FROM sealed_hours WHERE app_id = {app:UUID}
    ) AS sealed
SELECT
    until.1 AS pageUntil, until.2 AS sessionUntil, sealed.1 AS pageSealed, sealed.2 AS sessionSealed,
    sumIf(n, kind = 'event' AND ms < until.1) AS pageLedger,
    sumIf(n, kind = 'session' AND ms < until.2) AS sessionLedger,
    sumIf(n, kind = 'event' AND ms >= {eventsFrom:Int64} AND ms <= {eventsTo:Int64}) AS inEvents,
    sumIf(n, kind = 'session' AND ms >= {sessionsFrom:Int64} AND ms <= {sessionsTo:Int64}) AS inSessions,
    count() AS hours,
    toUnixTimestamp64Milli(max(last)) AS asOf
FROM
(
    SELECT l.kind AS kind, toUnixTimestamp(l.hour) * 1000 AS ms, l.events AS n, l.last_insert AS last
    FROM ledger AS l WHERE l.app_id = {app:UUID}
)`,
  row: ROW,
};

/** The first hour below `until` in which the facts do not hold just the ledger's events; null where there is none. */
const FIRST_STALE: Query<{ hour: number | null }> = {
  name: 'first stale hour',
  sql: `SELECT toUnixTimestamp(minOrNull(hour)) AS hour FROM
(
    SELECT hour FROM
    (
        SELECT hour, toInt64(events) AS difference FROM ledger
        WHERE app_id = {app:UUID} AND kind = {ledgerKind:String} AND toUnixTimestamp(hour) * 1000 < {until:Int64}
        UNION ALL
        SELECT hour, -toInt64(events) FROM sealed_hours
        WHERE app_id = {app:UUID} AND kind = {kind:String} AND toUnixTimestamp(hour) * 1000 < {until:Int64}
    )
    GROUP BY hour HAVING sum(difference) != 0
)`,
  row: z.object({ hour: z.number().nullable() }),
};

const NOWHERE = { from: 1, to: 0 };
const NOTHING: Scope = { events: null, sessions: null };

/**
 * How far an app's facts can be used now, and the version of what lies in `scope`. Late events count at once: they make
 * the ledger differ from the facts, and the watermark falls back to the first hour that they touched.
 */
export async function readSnapshot(db: Database, app: AppId, scope: Scope = NOTHING): Promise<Snapshot> {
  const events = scope.events ?? NOWHERE;
  const sessions = scope.sessions ?? NOWHERE;
  const bounds = {
    eventsFrom: hourOf(events.from),
    eventsTo: events.to,
    sessionsFrom: hourOf(sessions.from),
    sessionsTo: sessions.to,
  };
  // Small, and what a poller's 304 needs: it does not wait behind heavy questions.
  const row = await db.queryOne(SNAPSHOT, { app, ...bounds }, { lane: 'lookup' });
  const whole = { page: row.pageLedger === row.pageSealed, session: row.sessionLedger === row.sessionSealed };
  const [page, session] = await Promise.all([
    whole.page ? epochMs(row.pageUntil) : firstStale(db, app, 'page', row.pageUntil),
    whole.session ? epochMs(row.sessionUntil) : firstStale(db, app, 'session', row.sessionUntil),
  ]);
  return {
    watermarks: { page, session },
    facts: {
      page: whole.page ? `${row.pageUntil} ${row.pageSealed}` : null,
      session: whole.session ? `${row.sessionUntil} ${row.sessionSealed}` : null,
    },
    version: [row.inEvents, row.inSessions],
    asOf: row.hours === 0 ? null : epochMs(row.asOf),
  };
}

const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;

async function firstStale(db: Database, app: AppId, kind: FactKind, until: number): Promise<EpochMs> {
  const ledgerKind = kind === 'page' ? 'event' : 'session';
  const { hour } = await db.queryOne(FIRST_STALE, { app, kind, ledgerKind, until }, { lane: 'lookup' });
  return epochMs(hour === null ? until : hour * 1000);
}
