import { z } from 'zod';
import type { Database } from '../clickhouse/database.ts';
import { int, ofApp } from '../clickhouse/literals.ts';
import { join, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import { byName } from '../domain/by-name.ts';
import type { AppId } from '../domain/ids.ts';
import {
  type Elapsed,
  type EpochMs,
  epochMs,
  floorTo,
  HOUR_MS,
  MINUTE_MS,
  type Range,
} from '../domain/time.ts';
import { FACT_KINDS, type FactKind } from './kinds.ts';
import { type LateHour, lateHours } from './late-hours.ts';
import {
  isSame,
  NOTHING_PUBLISHED,
  type Published,
  type PublishedFacts,
  publishedOf,
  publishedRows,
  without,
} from './published.ts';

/**
 * The data that an answer rests on: events by their own time, and events by the start of their session; null
 * for none.
 */
export interface Scope {
  readonly events: Range | null;
  readonly sessions: Range | null;
}

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
  /** The first and last start of a session; null without data. */
  readonly starts: Range | null;
  /** The first and last instant with an event or the start of a session; null without data. */
  readonly extent: Range | null;
  /** When the app's newest event was stored; null if there is none. */
  readonly asOf: EpochMs | null;
}

/** What a snapshot's statement says of facts. Without other writers it holds as long as no such write has begun. */
interface FactsRead {
  readonly rows: readonly Row[];
  /** The stamp before the statement began; null if there may be other writers. */
  readonly stamp: number | null;
  /** By the reader's elapsed time. Hours that are sealed after the statement are used from then on. */
  readonly until: number;
}
const FACTS_MS = MINUTE_MS;

const ROW = z.tuple([z.string(), z.array(z.number())]);
type Row = z.infer<typeof ROW>;

/** SQL of the number of events of a kind below the watermark, for rows of `sealed_hours AS h` or `ledger AS h`. */
const below = (kind: string, { until }: Published, rest = sql``): Sql =>
  sumIf(sql`kind = ${quoted(kind)} AND ${HOUR_STARTS} < ${int(until)}${rest}`);

/**
 * Reads the published state, and the number of events in the facts below `published`. That was read before: sums of one
 * table each, side by side, take two thirds of the time of one statement that derives the watermark first.
 */
const factRows = (app: AppId, { page, session }: PublishedFacts): Sql => sql`${publishedRows(app)}
UNION ALL
SELECT 'kept', [max(kept_from)] FROM kept_sessions WHERE ${ofApp(app)}
UNION ALL
SELECT 'sealed', [${below('page', page, without(sql`h.run`, page.dead))}, ${below('session', session, without(sql`h.run`, session.dead))}]
FROM sealed_hours AS h WHERE ${ofApp(app)}
UNION ALL
SELECT 'erasures', [${ERASURES}] FROM erasures WHERE ${ofApp(app)}`;

/** Reads the number of events in the ledger below `published`, and in each scope. */
const ledgerRow = (
  app: AppId,
  { page, session }: PublishedFacts,
  scopes: readonly Scope[],
): Sql => sql`SELECT 'ledger', [${below('event', page)}, ${below('session', session)}, toInt64(count()), toUnixTimestamp64Milli(max(h.last_insert)), ${sumIf(sql`kind = 'session'`)},
    ${EXTENTS}, ${join(scopes.map(eventsOf))}]
FROM ledger AS h WHERE ${ofApp(app)}`;

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

/** SQL of `starts` and `extent`, for rows of `ledger AS h`. */
const EXTENTS = join(
  [
    sql`minIf(h.oldest, kind = 'session')`,
    sql`maxIf(h.newest, kind = 'session')`,
    sql`min(h.oldest)`,
    sql`max(h.newest)`,
  ].map((at) => sql`toUnixTimestamp64Milli(${at})`),
);

const sumIf = (condition: Sql): Sql => sql`toInt64(sumIf(h.events, ${condition}))`;
const HOUR_STARTS = sql`toUnixTimestamp(h.hour) * 1000`;

/** What the next snapshot begins with. */
export interface LastRead extends Pick<Snapshot, 'published' | 'late'> {
  /** The numbers that `late` follows from, as one text: while they are the same, so is `late`. */
  readonly counted: { readonly [Kind in FactKind]: string };
  readonly facts: FactsRead;
}

const NOTHING_READ: LastRead = {
  published: NOTHING_PUBLISHED,
  late: { page: [], session: [] },
  counted: { page: '', session: '' },
  facts: { rows: [], stamp: null, until: 0 },
};

/**
 * Reads how far an app is sealed, which of its sealed hours are late, and the version of the data in each of
 * the scopes. If the published state is not that of `last`, the statement runs again. Late hours are read again
 * only if they may have changed. If this process alone writes, the same applies to the state of facts.
 */
export async function readSnapshots(
  db: Database,
  app: AppId,
  scopes: readonly Scope[],
  now: Elapsed,
  last: LastRead = NOTHING_READ,
): Promise<{ readonly snapshots: readonly Snapshot[]; readonly read: LastRead }> {
  const { published } = last;
  const stamp = db.stampOfChanges(app);
  const isKnown = stamp !== null && stamp === last.facts.stamp && now() < last.facts.until;
  const ledgerSql = ledgerRow(app, published, scopes);
  const query = isKnown
    ? { name: 'snapshot, new events', sql: ledgerSql, row: ROW }
    : { name: 'snapshot', sql: sql`${factRows(app, published)}\nUNION ALL\n${ledgerSql}`, row: ROW };
  // The lookup lane: the statement is small, and a poller's 304 must not wait behind heavy questions.
  const rows = await db.rows(query, { lane: 'lookup' });
  const facts = isKnown
    ? last.facts
    : { rows: rows.filter(([name]) => name !== 'ledger'), stamp, until: now() + FACTS_MS };
  const found = new Map([...facts.rows, ...rows]);
  const latest = { page: publishedOf(found.get('page')), session: publishedOf(found.get('session')) };
  if (!isSame(latest.page, published.page) || !isSame(latest.session, published.session)) {
    return readSnapshots(db, app, scopes, now, { ...last, published: latest, facts: NOTHING_READ.facts });
  }
  const { inScopes, sealed, ledger, ...own } = numbersOf(found);
  const { keptFrom, erasures, isErasing } = own;
  // Events are only added, except by erasures: equal sums of all hours mean equal hours.
  const counted = byName(FACT_KINDS, (kind) => {
    const { step, horizon, dead } = published[kind];
    return [step, horizon, dead.length, erasures, ledger[kind], sealed[kind]].join(' ');
  });
  const lateOf = (kind: FactKind): Promise<readonly LateHour[]> | readonly LateHour[] => {
    if (isErasing) return lateHours(db, app, kind, { ...published[kind], isErasing });
    if (ledger[kind] === sealed[kind]) return [];
    return counted[kind] === last.counted[kind] ? last.late[kind] : lateHours(db, app, kind, published[kind]);
  };
  const [page, session] = await Promise.all([lateOf('page'), lateOf('session')]);
  const late = { page, session };
  const state = {
    ...own,
    published,
    late,
    era: `${published.page.era} ${published.session.era} ${keptFrom} ${erasures}`,
    rebuilt: `${rebuiltOf(published.page)} ${rebuiltOf(published.session)} ${erasures}`,
  };
  return {
    snapshots: versionsOf(inScopes).map((version) => ({ ...state, version })),
    read: { published, late, counted, facts },
  };
}

/** The numbers of a snapshot's statement. */
interface Numbers
  extends Pick<
    Snapshot,
    'keptFrom' | 'erasures' | 'isErasing' | 'sessionEvents' | 'starts' | 'extent' | 'asOf'
  > {
  /** Events below the watermarks. */
  readonly sealed: Readonly<Record<FactKind, number>>;
  readonly ledger: Readonly<Record<FactKind, number>>;
  readonly inScopes: readonly number[];
}

function numbersOf(found: ReadonlyMap<string, readonly number[]>): Numbers {
  const [keptFrom = 0] = found.get('kept') ?? [];
  const [pageSealed = 0, sessionSealed = 0] = found.get('sealed') ?? [];
  const [pageLedger = 0, sessionLedger = 0, hours, asOf = 0, sessionEvents = 0, ...more] =
    found.get('ledger') ?? [];
  const [firstStart = 0, lastStart = 0, oldest = 0, newest = 0, ...inScopes] = more;
  const [begun = 0, ended = 0] = found.get('erasures') ?? [];
  return {
    keptFrom: epochMs(keptFrom),
    sealed: { page: pageSealed, session: sessionSealed },
    ledger: { page: pageLedger, session: sessionLedger },
    erasures: `${begun} ${ended}`,
    isErasing: begun !== ended,
    sessionEvents,
    starts: sessionEvents === 0 ? null : { from: epochMs(firstStart), to: epochMs(lastStart) },
    extent: sessionEvents === 0 ? null : { from: epochMs(oldest), to: epochMs(newest) },
    asOf: hours === 0 ? null : epochMs(asOf),
    inScopes,
  };
}

const rebuiltOf = ({ rebuilt, horizon }: Published): string => `${rebuilt} ${horizon}`;

/** Takes the numbers of `eventsOf` apart. */
export const versionsOf = (numbers: readonly number[]): Snapshot['version'][] =>
  Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i] ?? 0, numbers[2 * i + 1] ?? 0]);

const hourOf = (ms: number): number => floorTo(ms, HOUR_MS);
