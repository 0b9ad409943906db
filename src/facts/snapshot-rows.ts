import { int, ofApp } from '../clickhouse/literals.ts';
import { listOf, number, rowOf, text } from '../clickhouse/row.ts';
import { join, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { type EpochMs, epochMs, floorTo, HOUR_MS, type Range } from '../domain/time.ts';
import type { FactKind } from './kinds.ts';
import { type Published, type PublishedFacts, publishedOf, publishedRows, without } from './published.ts';

/* The statement of a snapshot, and what its rows say. */

/**
 * The data that an answer rests on: events by their own time, and events by the start of their session; null
 * for none.
 */
export interface Scope {
  readonly events: Range | null;
  readonly sessions: Range | null;
}

/**
 * Number of committed events in the scope's hours, by their own time and by the start of their session.
 * Between two erasures events are only ever added, so equal numbers mean equal answers.
 */
export type EventCounts = readonly [number, number];

/** What the rows say of an app's data. */
export interface State {
  /** `sessions` holds all sessions that started here or later. Earlier ones are merged from raw events. */
  readonly keptFrom: EpochMs;
  /** How many erasures of visitors have begun and how many have ended, as one text. */
  readonly erasures: string;
  /** While a visitor is being erased, an answer may count some of the visitor's events in some of its figures. */
  readonly isErasing: boolean;
  /** Number of committed events of all sessions. */
  readonly sessionEvents: number;
  /** The first and last start of a session; null without data. */
  readonly starts: Range | null;
  /** The first and last instant with an event or the start of a session; null without data. */
  readonly extent: Range | null;
  /** When the app's newest event was stored; null if there is none. */
  readonly asOf: EpochMs | null;
}

export const ROW = rowOf([text, listOf(number)]);
export type Row = ReturnType<typeof ROW.parse>;

/** SQL of the number of events of a kind below the watermark, for rows of `sealed_hours AS h` or `ledger AS h`. */
const below = (kind: string, { until }: Published, rest = sql``): Sql =>
  sumIf(sql`kind = ${quoted(kind)} AND ${HOUR_STARTS} < ${int(until)}${rest}`);

/** Reads the state that `eraOf` names. */
export const stateRows = (app: AppId): Sql => sql`${publishedRows(app)}
UNION ALL
SELECT 'kept', [max(kept_from)] FROM kept_sessions WHERE ${ofApp(app)}
UNION ALL
SELECT 'erasures', [${ERASURES}] FROM erasures WHERE ${ofApp(app)}`;

/**
 * Reads the published state, and the number of events in the facts below `published`. That was read before: sums of one
 * table each, side by side, take two thirds of the time of one statement that derives the watermark first.
 */
export const factRows = (app: AppId, { page, session }: PublishedFacts): Sql => sql`${stateRows(app)}
UNION ALL
SELECT 'sealed', [${below('page', page, without(sql`h.run`, page.dead))}, ${below('session', session, without(sql`h.run`, session.dead))}]
FROM sealed_hours AS h WHERE ${ofApp(app)}`;

/** Reads the number of events in the ledger below `published`, and in each scope. */
export const ledgerRow = (
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

/** SQL of both numbers of events in a scope, in the order of `EventCounts`, for rows of the same tables. */
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

type Found = ReadonlyMap<string, readonly number[]>;

/** Returns the era of the rows of `stateRows`. While it is unchanged, all rows that a snapshot refers to exist. */
export function eraOf(found: Found): string {
  const [{ era: page }, { era: session }] = [
    publishedOf(found.get('page')),
    publishedOf(found.get('session')),
  ];
  return [page, session, found.get('kept')?.[0] ?? 0, erasuresOf(found).erasures].join(' ');
}

/** Takes the row of the erasures apart. */
export function erasuresOf(found: Found): Pick<State, 'erasures' | 'isErasing'> {
  const [begun = 0, ended = 0] = found.get('erasures') ?? [];
  return { erasures: `${begun} ${ended}`, isErasing: begun !== ended };
}

/** The numbers of a snapshot's statement. */
export interface Numbers extends State {
  /** Events below the watermarks. */
  readonly sealed: Readonly<Record<FactKind, number>>;
  readonly ledger: Readonly<Record<FactKind, number>>;
  readonly inScopes: readonly number[];
}

export function numbersOf(found: Found): Numbers {
  const [keptFrom = 0] = found.get('kept') ?? [];
  const [pageSealed = 0, sessionSealed = 0] = found.get('sealed') ?? [];
  const [pageLedger = 0, sessionLedger = 0, hours, asOf = 0, sessionEvents = 0, ...more] =
    found.get('ledger') ?? [];
  const [firstStart = 0, lastStart = 0, oldest = 0, newest = 0, ...inScopes] = more;
  return {
    keptFrom: epochMs(keptFrom),
    sealed: { page: pageSealed, session: sessionSealed },
    ledger: { page: pageLedger, session: sessionLedger },
    ...erasuresOf(found),
    sessionEvents,
    starts: sessionEvents === 0 ? null : { from: epochMs(firstStart), to: epochMs(lastStart) },
    extent: sessionEvents === 0 ? null : { from: epochMs(oldest), to: epochMs(newest) },
    asOf: hours === 0 ? null : epochMs(asOf),
    inScopes,
  };
}

/** Takes the numbers of `eventsOf` apart. */
export const versionsOf = (numbers: readonly number[]): EventCounts[] =>
  Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i] ?? 0, numbers[2 * i + 1] ?? 0]);

const hourOf = (ms: number): number => floorTo(ms, HOUR_MS);
