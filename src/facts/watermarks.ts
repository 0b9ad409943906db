import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { int, ofApp } from '../clickhouse/literals.ts';
import type { AppId } from '../domain/ids.ts';
import { type EpochMs, epochMs, floorTo, HOUR_MS, type Range } from '../domain/time.ts';

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
  /** As far as the app was sealed. */
  readonly published: Watermarks;
  readonly watermarks: Watermarks;
  /** `sessions` holds all that started from here on; what started before is merged from raw events. */
  readonly keptFrom: EpochMs;
  /**
   * Names what the facts below each watermark hold: how far they go, and how many events they hold, of which there are only ever
   * more. The same name means the same facts. Null where some of what was sealed is stale.
   */
  readonly facts: { readonly [Kind in FactKind]: string | null };
  /**
   * Committed events in the scope's hours, by their own time and by their session's. Events are only ever added: where both
   * numbers are the same, so is the answer.
   */
  readonly version: readonly [number, number];
  /** When the app's newest event was stored; null without any. */
  readonly asOf: EpochMs | null;
}

const ROWS = z.tuple([z.string(), z.array(z.number())]);

/**
 * Published watermarks; the events below these in the facts and in the ledger, and the events in the scope. Below `published`, which was
 * read before: sums of one table each, side by side, take two thirds of what one statement takes that reads one from the other.
 */
const snapshotQuery = (
  app: AppId,
  { page, session }: Watermarks,
  { events, sessions }: Scope,
): Query<z.infer<typeof ROWS>> => {
  const below = (kind: string, until: number) => sumIf(`kind = '${kind}' AND ${HOUR_STARTS} < ${int(until)}`);
  return {
    name: 'snapshot',
    sql: `SELECT 'published', [argMaxIf(sealed_until, version, kind = 'page'), argMaxIf(sealed_until, version, kind = 'session')]
FROM sealed_apps WHERE ${ofApp(app)}
UNION ALL
SELECT 'kept', [max(kept_from)] FROM kept_sessions WHERE ${ofApp(app)}
UNION ALL
SELECT 'sealed', [${below('page', page)}, ${below('session', session)}]
FROM sealed_hours AS h WHERE ${ofApp(app)}
UNION ALL
SELECT 'ledger', [${below('event', page)}, ${below('session', session)}, ${eventsWithin('event', events)}, ${eventsWithin('session', sessions)},
    toInt64(count()), toUnixTimestamp64Milli(max(h.last_insert))]
FROM ledger AS h WHERE ${ofApp(app)}`,
    row: ROWS,
  };
};

/** The events of a kind in the range's hours, of rows of `ledger AS h` or `ingest_begun AS h`. */
export const eventsWithin = (kind: string, range: Range | null): string =>
  range === null
    ? '0'
    : sumIf(
        `kind = '${kind}' AND ${HOUR_STARTS} >= ${int(hourOf(range.from))} AND ${HOUR_STARTS} <= ${int(range.to)}`,
      );

const sumIf = (condition: string): string => `toInt64(sumIf(h.events, ${condition}))`;
const HOUR_STARTS = 'toUnixTimestamp(h.hour) * 1000';

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

const NOTHING: Scope = { events: null, sessions: null };
const NOTHING_PUBLISHED: Watermarks = { page: epochMs(0), session: epochMs(0) };

/**
 * How far an app's facts can be used now, and the version of what lies in `scope`. Late events count at once: they make
 * the ledger differ from the facts, and the watermark falls back to the first hour that they touched. `published`: what was published
 * when it was last read.
 */
export async function readSnapshot(
  db: Database,
  app: AppId,
  scope: Scope = NOTHING,
  published: Watermarks = NOTHING_PUBLISHED,
): Promise<Snapshot> {
  // Small, and what a poller's 304 needs: it does not wait behind heavy questions.
  const found = new Map(await db.rows(snapshotQuery(app, published, scope), { lane: 'lookup' }));
  const [pageUntil = 0, sessionUntil = 0] = found.get('published') ?? [];
  if (pageUntil !== published.page || sessionUntil !== published.session) {
    return readSnapshot(db, app, scope, { page: epochMs(pageUntil), session: epochMs(sessionUntil) });
  }
  const [keptFrom = 0] = found.get('kept') ?? [];
  const [pageSealed, sessionSealed] = found.get('sealed') ?? [];
  const [pageLedger, sessionLedger, inEvents = 0, inSessions = 0, hours, asOf = 0] =
    found.get('ledger') ?? [];
  const whole = { page: pageLedger === pageSealed, session: sessionLedger === sessionSealed };
  const [page, session] = await Promise.all([
    whole.page ? published.page : firstStale(db, app, 'page', published.page),
    whole.session ? published.session : firstStale(db, app, 'session', published.session),
  ]);
  return {
    published,
    watermarks: { page, session },
    keptFrom: epochMs(keptFrom),
    facts: {
      page: whole.page ? `${pageUntil} ${pageSealed}` : null,
      session: whole.session ? `${sessionUntil} ${sessionSealed}` : null,
    },
    version: [inEvents, inSessions],
    asOf: hours === 0 ? null : epochMs(asOf),
  };
}

const hourOf = (ms: number): number => floorTo(ms, HOUR_MS);

async function firstStale(db: Database, app: AppId, kind: FactKind, until: EpochMs): Promise<EpochMs> {
  const ledgerKind = kind === 'page' ? 'event' : 'session';
  const { hour } = await db.queryOne(FIRST_STALE, { app, kind, ledgerKind, until }, { lane: 'lookup' });
  return hour === null ? until : epochMs(hour * 1000);
}
