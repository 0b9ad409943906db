import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { int, ofApp } from '../clickhouse/literals.ts';
import type { AppId } from '../domain/ids.ts';
import { type EpochMs, epochMs, floorTo, HOUR_MS, type Range } from '../domain/time.ts';

/** Facts by the time of events (pages, errors, clicks) and facts by the start of sessions are sealed apart. */
export type FactKind = 'page' | 'session';

/** What was published of an app's facts of one kind (see runs.ts). */
export interface Published {
  readonly until: EpochMs;
  /** Goes up with whatever is published: the same step means the same facts below `until`. */
  readonly step: number;
  /** While it is the same, no rows that were to be read are taken away. */
  readonly era: number;
  /** Another number after all facts were forgotten, to be built anew. */
  readonly rebuilt: number;
  /** Runs whose rows are not read. */
  readonly dead: readonly number[];
}
export type PublishedFacts = { readonly [Kind in FactKind]: Published };

/** What an answer rests on: events by their own time, and events by the start of their session; null for none. */
export interface Scope {
  readonly events: Range | null;
  readonly sessions: Range | null;
}

/** A sealed hour whose facts do not hold what is committed. */
export interface LateHour {
  /** Its start, epoch ms. */
  readonly hour: number;
  /** Events in the ledger. */
  readonly committed: number;
  /** Events in the facts. */
  readonly held: number;
  /** No later event of it is in the facts, by the store's clock (epoch ms); 0 where the facts hold nothing of it. */
  readonly insertedUntil: number;
  /** The last event in the ledger, of any of the hour's sessions where it is an hour of sessions. */
  readonly lastEvent: number;
}

/** With more late hours of a kind, raw rows answer from the first one on. */
export const MOST_LATE_HOURS = 500;

/** An app's data at a moment. */
export interface Snapshot {
  readonly published: PublishedFacts;
  /** In the order of time; of more than MOST_LATE_HOURS only the first. */
  readonly late: { readonly [Kind in FactKind]: readonly LateHour[] };
  /** `sessions` holds all that started from here on; what started before is merged from raw events. */
  readonly keptFrom: EpochMs;
  /** While it is the same, rows that are read by this snapshot are there. */
  readonly era: string;
  /** Another text after facts were forgotten because they may have been wrong: no answer from before is confirmed. */
  readonly rebuilt: string;
  /**
   * Committed events in the scope's hours, by their own time and by their session's. Events are only ever added: where both
   * numbers are the same, so is the answer.
   */
  readonly version: readonly [number, number];
  /** When the app's newest event was stored; null without any. */
  readonly asOf: EpochMs | null;
}

const ROWS = z.tuple([z.string(), z.array(z.number())]);

/** The verdict of each run; one that is dead stays dead. */
const VERDICTS = (
  app: AppId,
): string => `SELECT kind, run, max(verdict) AS verdict, max(v.step) AS step, max(v.sealed_until) AS sealed_until,
        max(v.era) AS era, max(v.rebuilt) AS rebuilt FROM sealing_verdicts AS v WHERE ${ofApp(app)} AND v.verdict != 'void' GROUP BY kind, run`;

/**
 * What is published; the events below these in the facts and in the ledger, and the events in the scope. Below `published`, which was
 * read before: sums of one table each, side by side, take two thirds of what one statement takes that reads one from the other.
 */
const snapshotQuery = (
  app: AppId,
  { page, session }: PublishedFacts,
  { events, sessions }: Scope,
): Query<z.infer<typeof ROWS>> => {
  const below = (kind: string, { until }: Published, rest = '') =>
    sumIf(`kind = '${kind}' AND ${HOUR_STARTS} < ${int(until)}${rest}`);
  return {
    name: 'snapshot',
    sql: `SELECT toString(kind), arrayConcat([argMaxIf(sealed_until, step, verdict = 'published'), toInt64(maxIf(step, verdict = 'published')),
    toInt64(argMaxIf(era, step, verdict = 'published')), toInt64(argMaxIf(rebuilt, step, verdict = 'published'))], arrayMap(run -> toInt64(run), groupArrayIf(run, verdict = 'dead')))
FROM (${VERDICTS(app)}) GROUP BY kind
UNION ALL
SELECT 'kept', [max(kept_from)] FROM kept_sessions WHERE ${ofApp(app)}
UNION ALL
SELECT 'sealed', [${below('page', page, without('h.run', page.dead))}, ${below('session', session, without('h.run', session.dead))}]
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

/** Rows of dead runs are left out; mostly there are none. */
export const without = (run: string, dead: readonly number[]): string =>
  dead.length === 0 ? '' : ` AND ${run} NOT IN (${dead.map(int).join(', ')})`;

const sumIf = (condition: string): string => `toInt64(sumIf(h.events, ${condition}))`;
const HOUR_STARTS = 'toUnixTimestamp(h.hour) * 1000';

const LATE_HOUR = z.object({
  hour: z.number(),
  committed: z.number(),
  held: z.number(),
  insertedUntil: z.number(),
  lastEvent: z.number(),
});
const LATE_HOURS: Query<LateHour> = {
  name: 'late hours',
  sql: `SELECT toUnixTimestamp(h.hour) * 1000 AS hour, sum(in_ledger) AS committed, sum(in_facts) AS held, max(inserted_until) AS insertedUntil,
    max(last_event_ms) AS lastEvent
FROM
(
    SELECT hour, events AS in_ledger, 0 AS in_facts, toInt64(0) AS inserted_until, toUnixTimestamp64Milli(last_event) AS last_event_ms FROM ledger
    WHERE app_id = {app:UUID} AND kind = {ledgerKind:String} AND toUnixTimestamp(hour) * 1000 < {until:Int64}
    UNION ALL
    SELECT hour, 0, events, inserted_until, toInt64(0) FROM sealed_hours
    WHERE app_id = {app:UUID} AND kind = {kind:String} AND run NOT IN {dead:Array(UInt64)} AND toUnixTimestamp(hour) * 1000 < {until:Int64}
) AS h
GROUP BY h.hour HAVING committed != held ORDER BY h.hour LIMIT ${MOST_LATE_HOURS + 1}`,
  row: LATE_HOUR,
};

const NOTHING: Scope = { events: null, sessions: null };
const NONE: Published = { until: epochMs(0), step: 0, era: 0, rebuilt: 0, dead: [] };
const NOTHING_PUBLISHED: PublishedFacts = { page: NONE, session: NONE };

const publishedOf = ([
  until = 0,
  step = 0,
  era = 0,
  rebuilt = 0,
  ...dead
]: readonly number[] = []): Published => ({
  until: epochMs(until),
  step,
  era,
  rebuilt,
  dead,
});
const isSame = (a: Published, b: Published): boolean => a.step === b.step && a.dead.length === b.dead.length;

/**
 * How far an app is sealed, which of its sealed hours got late events, and the version of what lies in `scope`. `published`: what was
 * published when it was last read.
 */
export async function readSnapshot(
  db: Database,
  app: AppId,
  scope: Scope = NOTHING,
  published: PublishedFacts = NOTHING_PUBLISHED,
): Promise<Snapshot> {
  // Small, and what a poller's 304 needs: it does not wait behind heavy questions.
  const found = new Map(await db.rows(snapshotQuery(app, published, scope), { lane: 'lookup' }));
  const latest = { page: publishedOf(found.get('page')), session: publishedOf(found.get('session')) };
  if (!isSame(latest.page, published.page) || !isSame(latest.session, published.session)) {
    return readSnapshot(db, app, scope, latest);
  }
  const [keptFrom = 0] = found.get('kept') ?? [];
  const [pageSealed, sessionSealed] = found.get('sealed') ?? [];
  const [pageLedger, sessionLedger, inEvents = 0, inSessions = 0, hours, asOf = 0] =
    found.get('ledger') ?? [];
  const whole = { page: pageLedger === pageSealed, session: sessionLedger === sessionSealed };
  const [page, session] = await Promise.all([
    whole.page ? [] : lateHours(db, app, 'page', published.page),
    whole.session ? [] : lateHours(db, app, 'session', published.session),
  ]);
  return {
    published,
    late: { page, session },
    keptFrom: epochMs(keptFrom),
    era: `${published.page.era} ${published.session.era} ${keptFrom}`,
    rebuilt: `${published.page.rebuilt} ${published.session.rebuilt}`,
    version: [inEvents, inSessions],
    asOf: hours === 0 ? null : epochMs(asOf),
  };
}

const hourOf = (ms: number): number => floorTo(ms, HOUR_MS);

/** The sealed hours whose facts do not hold what is committed, in order; no more than one above MOST_LATE_HOURS. */
export function lateHours(
  db: Database,
  app: string,
  kind: FactKind,
  { until, dead }: { readonly until: number; readonly dead: readonly number[] },
): Promise<readonly LateHour[]> {
  const ledgerKind = kind === 'page' ? 'event' : 'session';
  return db.query(LATE_HOURS, { app, kind, ledgerKind, until, dead }, { lane: 'lookup' });
}
