import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { int, ofApp } from '../clickhouse/literals.ts';
import { join, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { type EpochMs, epochMs, floorTo, HOUR_MS, type Range } from '../domain/time.ts';

/**
 * Page facts go by the time of an event (pages, errors, clicks), session facts by the start of a session.
 * They are sealed separately.
 */
export type FactKind = 'page' | 'session';

/** The published state of an app's facts of one kind (see runs.ts). */
export interface Published {
  readonly until: EpochMs;
  /** Grows with each publication: the same step means the same facts below `until`. */
  readonly step: number;
  /** While it is unchanged, no rows that this state refers to are deleted. */
  readonly era: number;
  /** Changes when all facts are dropped to be built again. */
  readonly rebuilt: number;
  /**
   * The horizon: raw rows from before it are not read. A whole UTC day, 0 for an app that keeps everything. It
   * never moves back, and is not later than `until`.
   */
  readonly horizon: EpochMs;
  /** Runs whose rows are ignored. */
  readonly dead: readonly number[];
}
export type PublishedFacts = { readonly [Kind in FactKind]: Published };

/**
 * The data that an answer rests on: events by their own time, and events by the start of their session; null
 * for none.
 */
export interface Scope {
  readonly events: Range | null;
  readonly sessions: Range | null;
}

/** A sealed hour whose facts do not hold all committed events, or may not, because a visitor is being erased. */
export interface LateHour {
  /** Its start, epoch ms. */
  readonly hour: number;
  /** Number of events in the ledger. */
  readonly committed: number;
  /** Number of events in the facts. */
  readonly held: number;
  /**
   * The facts hold no event that was inserted later, by the store's clock (epoch ms); 0 if they hold none of
   * this hour.
   */
  readonly insertedUntil: number;
  /**
   * The time of the last event in the ledger (epoch ms). For session facts, of any session that started in
   * the hour.
   */
  readonly lastEvent: number;
}

/** If more hours of a kind are late, raw rows answer from the first one on. */
export const MOST_LATE_HOURS = 500;

/** The state of an app's data at a moment. */
export interface Snapshot {
  readonly published: PublishedFacts;
  /** In order of time. If more than MOST_LATE_HOURS are late, only the first ones. */
  readonly late: { readonly [Kind in FactKind]: readonly LateHour[] };
  /** `sessions` holds all sessions that started here or later. Earlier ones are merged from raw events. */
  readonly keptFrom: EpochMs;
  /** While it is unchanged, all rows that this snapshot refers to exist. */
  readonly era: string;
  /**
   * Changes when facts are dropped because they may have been wrong, with the horizon, and with each erasure: no older
   * answer is confirmed after that.
   */
  readonly rebuilt: string;
  /** How many erasures of visitors have begun and how many have ended, as one text. */
  readonly erasures: string;
  /** While a visitor is being erased, an answer may count some of the visitor's events in some of its figures. */
  readonly isErasing: boolean;
  /**
   * Number of committed events in the scope's hours, by their own time and by the start of their session.
   * Between two erasures events are only ever added, so equal numbers mean equal answers.
   */
  readonly version: readonly [number, number];
  /** Number of committed events of all sessions. */
  readonly sessionEvents: number;
  /** When the app's newest event was stored; null if there is none. */
  readonly asOf: EpochMs | null;
}

const ROWS = z.tuple([z.string(), z.array(z.number())]);

/** The verdict of each run. `max` keeps a dead run dead. */
const VERDICTS = (
  app: AppId,
): Sql => sql`SELECT kind, run, max(verdict) AS verdict, max(v.step) AS step, max(v.sealed_until) AS sealed_until,
        max(v.era) AS era, max(v.rebuilt) AS rebuilt, max(v.horizon) AS horizon FROM sealing_verdicts AS v WHERE ${ofApp(app)} AND v.verdict != 'void' GROUP BY kind, run`;

/**
 * Reads the published state, the number of events below `published` in the facts and in the ledger, and the
 * number of events in each scope. `published` was read before: sums of one table each, side by side, take two
 * thirds of the time of one statement that derives the watermark first.
 */
const snapshotQuery = (
  app: AppId,
  { page, session }: PublishedFacts,
  scopes: readonly Scope[],
): Query<z.infer<typeof ROWS>> => {
  const below = (kind: string, { until }: Published, rest = sql``) =>
    sumIf(sql`kind = ${quoted(kind)} AND ${HOUR_STARTS} < ${int(until)}${rest}`);
  return {
    name: 'snapshot',
    sql: sql`SELECT toString(kind), arrayConcat([argMaxIf(sealed_until, step, verdict = 'published'), toInt64(maxIf(step, verdict = 'published')),
    toInt64(argMaxIf(era, step, verdict = 'published')), toInt64(argMaxIf(rebuilt, step, verdict = 'published')), maxIf(horizon, verdict = 'published')], arrayMap(run -> toInt64(run), groupArrayIf(run, verdict = 'dead')))
FROM (${VERDICTS(app)}) GROUP BY kind
UNION ALL
SELECT 'kept', [max(kept_from)] FROM kept_sessions WHERE ${ofApp(app)}
UNION ALL
SELECT 'sealed', [${below('page', page, without(sql`h.run`, page.dead))}, ${below('session', session, without(sql`h.run`, session.dead))}]
FROM sealed_hours AS h WHERE ${ofApp(app)}
UNION ALL
SELECT 'ledger', [${below('event', page)}, ${below('session', session)}, toInt64(count()), toUnixTimestamp64Milli(max(h.last_insert)), ${sumIf(sql`kind = 'session'`)},
    ${join(scopes.map(eventsOf))}]
FROM ledger AS h WHERE ${ofApp(app)}
UNION ALL
SELECT 'erasures', [${ERASURES}] FROM erasures WHERE ${ofApp(app)}`,
    row: ROWS,
  };
};

/**
 * SQL of the number of events of a kind in the range's hours, for rows of `ledger AS h` or `ingest_begun AS
 * h`.
 */
const eventsWithin = (kind: string, range: Range | null): Sql =>
  range === null
    ? sql`0`
    : sumIf(
        sql`kind = ${quoted(kind)} AND ${HOUR_STARTS} >= ${int(hourOf(range.from))} AND ${HOUR_STARTS} <= ${int(range.to)}`,
      );

/** SQL of both numbers of events in a scope, in the order of `version`, for rows of the same tables. */
export const eventsOf = ({ events, sessions }: Scope): Sql =>
  sql`${eventsWithin('event', events)}, ${eventsWithin('session', sessions)}`;

/** SQL of the numbers of erasures that have begun and that have ended, for rows of `erasures`. */
export const ERASURES = sql`toInt64(uniqExact(erasure_id)), toInt64(uniqExactIf(erasure_id, ended = 1))`;

/** SQL condition that leaves out rows of dead runs; usually there are none. */
export const without = (run: Sql, dead: readonly number[]): Sql =>
  dead.length === 0 ? sql`` : sql` AND ${run} NOT IN (${join(dead.map(int))})`;

const sumIf = (condition: Sql): Sql => sql`toInt64(sumIf(h.events, ${condition}))`;
const HOUR_STARTS = sql`toUnixTimestamp(h.hour) * 1000`;

const LATE_HOUR = z.object({
  hour: z.number(),
  committed: z.number(),
  held: z.number(),
  insertedUntil: z.number(),
  lastEvent: z.number(),
});
/** The hours of the events that are being erased. Their counts in the ledger may fall to those of the facts. */
const ERASED_HOURS: { readonly [Kind in FactKind]: Sql } = {
  page: sql`arrayJoin(hours)`,
  session: sql`toDateTime(intDiv(started_at, ${HOUR_MS}) * ${HOUR_MS / 1000}, 'UTC')`,
};
const erasedHours = (kind: FactKind): Sql => sql`
    UNION ALL
    SELECT hour, 0, 0, toInt64(0), toInt64(0), 1 FROM
    (SELECT ${ERASED_HOURS[kind]} AS hour FROM erased_sessions WHERE app_id = {app:UUID} AND session_id != '')
    WHERE toUnixTimestamp(hour) * 1000 < {until:Int64}`;

const lateHoursQuery = (kind: FactKind, isErasing: boolean): Query<LateHour> => ({
  name: 'late hours',
  sql: sql`SELECT toUnixTimestamp(h.hour) * 1000 AS hour, sum(in_ledger) AS committed, sum(in_facts) AS held, max(inserted_until) AS insertedUntil,
    max(last_event_ms) AS lastEvent
FROM
(
    SELECT hour, events AS in_ledger, 0 AS in_facts, toInt64(0) AS inserted_until, toUnixTimestamp64Milli(last_event) AS last_event_ms, 0 AS erased FROM ledger
    WHERE app_id = {app:UUID} AND kind = {ledgerKind:String} AND toUnixTimestamp(hour) * 1000 < {until:Int64}
    UNION ALL
    SELECT hour, 0, events, inserted_until, toInt64(0), 0 FROM sealed_hours
    WHERE app_id = {app:UUID} AND kind = {kind:String} AND run NOT IN {dead:Array(UInt64)} AND toUnixTimestamp(hour) * 1000 < {until:Int64}${isErasing ? erasedHours(kind) : sql``}
) AS h
GROUP BY h.hour HAVING committed != held OR max(erased) = 1 ORDER BY h.hour LIMIT ${MOST_LATE_HOURS + 1}`,
  row: LATE_HOUR,
});

const NONE: Published = { until: epochMs(0), step: 0, era: 0, rebuilt: 0, horizon: epochMs(0), dead: [] };
const NOTHING_PUBLISHED: PublishedFacts = { page: NONE, session: NONE };

const publishedOf = ([
  until = 0,
  step = 0,
  era = 0,
  rebuilt = 0,
  horizon = 0,
  ...dead
]: readonly number[] = []): Published => ({
  until: epochMs(until),
  step,
  era,
  rebuilt,
  horizon: epochMs(horizon),
  dead,
});
const isSame = (a: Published, b: Published): boolean => a.step === b.step && a.dead.length === b.dead.length;

/**
 * Reads how far an app is sealed, which of its sealed hours are late, and the version of the data in each of
 * the scopes. `published`: the state that was read last; if it has changed, the statement runs again.
 */
export async function readSnapshots(
  db: Database,
  app: AppId,
  scopes: readonly Scope[],
  published: PublishedFacts = NOTHING_PUBLISHED,
): Promise<readonly Snapshot[]> {
  // The lookup lane: the statement is small, and a poller's 304 must not wait behind heavy questions.
  const found = new Map(await db.rows(snapshotQuery(app, published, scopes), { lane: 'lookup' }));
  const latest = { page: publishedOf(found.get('page')), session: publishedOf(found.get('session')) };
  if (!isSame(latest.page, published.page) || !isSame(latest.session, published.session)) {
    return readSnapshots(db, app, scopes, latest);
  }
  const [keptFrom = 0] = found.get('kept') ?? [];
  const [pageSealed, sessionSealed] = found.get('sealed') ?? [];
  const [pageLedger, sessionLedger, hours, asOf = 0, sessionEvents = 0, ...inScopes] =
    found.get('ledger') ?? [];
  const [begun = 0, ended = 0] = found.get('erasures') ?? [];
  const erasures = `${begun} ${ended}`;
  const isErasing = begun !== ended;
  const late = (kind: FactKind, isWhole: boolean) =>
    isWhole && !isErasing ? [] : lateHours(db, app, kind, { ...published[kind], isErasing });
  const [page, session] = await Promise.all([
    late('page', pageLedger === pageSealed),
    late('session', sessionLedger === sessionSealed),
  ]);
  const state = {
    published,
    late: { page, session },
    keptFrom: epochMs(keptFrom),
    era: `${published.page.era} ${published.session.era} ${keptFrom} ${erasures}`,
    rebuilt: [
      ...[published.page, published.session].map(({ rebuilt, horizon }) => `${rebuilt} ${horizon}`),
      erasures,
    ].join(' '),
    erasures,
    isErasing,
    sessionEvents,
    asOf: hours === 0 ? null : epochMs(asOf),
  };
  return versionsOf(inScopes).map((version) => ({ ...state, version }));
}

/** Takes the numbers of `eventsOf` apart. */
export const versionsOf = (numbers: readonly number[]): Snapshot['version'][] =>
  Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i] ?? 0, numbers[2 * i + 1] ?? 0]);

const hourOf = (ms: number): number => floorTo(ms, HOUR_MS);

/** Reads the late hours in order, at most one more than MOST_LATE_HOURS. */
export function lateHours(
  db: Database,
  app: string,
  kind: FactKind,
  {
    until,
    dead,
    isErasing = false,
  }: { readonly until: number; readonly dead: readonly number[]; readonly isErasing?: boolean },
): Promise<readonly LateHour[]> {
  const ledgerKind = kind === 'page' ? 'event' : 'session';
  const params = { app, kind, ledgerKind, until, dead };
  return db.query(lateHoursQuery(kind, isErasing), params, { lane: 'lookup' });
}
