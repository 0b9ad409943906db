import { bucket, ofApp } from '../clickhouse/literals.ts';
import { listOf, number, rowOf, text } from '../clickhouse/row.ts';
import { quoted, type Sql, sql } from '../clickhouse/sql.ts';
import { byName } from '../domain/by-name.ts';
import { FACT_KINDS, type FactKind, LEDGER_KIND } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import type { Scope } from '../domain/scope.ts';
import { type EpochMs, epochMs, type Range } from '../domain/time.ts';
import { type Band, bandRows, boundsOf, eventsBetween } from './bands.ts';
import { type Published, type PublishedFacts, publishedOf, publishedRows, without } from './published.ts';
import type { Ends } from './tail-end.ts';

/* The statement of a snapshot, and the meaning of its rows. */

/**
 * Number of committed events in the scope's hours, by their own time and by the start of their session.
 * Between two erasures events are only ever added, so equal numbers mean equal answers.
 */
export type EventCounts = readonly [number, number];

/** The state of an app's data, from the rows. */
export interface State extends Pick<Ends, 'extent'> {
  /** `sessions` holds all sessions that started here or later. Earlier ones are merged from raw events. */
  readonly keptFrom: EpochMs;
  /** How many erasures of visitors have begun and how many have ended, as one text. */
  readonly erasures: string;
  /** While a visitor is being erased, an answer may count some of the visitor's events in some of its figures. */
  readonly isErasing: boolean;
  /** Number of committed events of all sessions. */
  readonly sessionEvents: number;
  /** About how many of them the session facts do not hold. */
  readonly pendingEvents: number;
  /** The first and last start of a session; null without data. */
  readonly starts: Range | null;
  /** When the app's newest event was stored; null if there is none. */
  readonly asOf: EpochMs | null;
  /** The page facts hold no event that was inserted later, by the store's clock. */
  readonly heldUntil: EpochMs;
}

export const ROW = rowOf([text, listOf(number)]);
export type Row = ReturnType<typeof ROW.parse>;

/** Reads the published state, and everything else that `eraOf` names. */
export const stateRows = (app: AppId): Sql => sql`${publishedRows(app)}
UNION ALL
SELECT 'kept', [max(kept_from)] FROM kept_sessions WHERE ${ofApp(app)}
UNION ALL
SELECT 'erasures', [${ERASURES}] FROM erasures WHERE ${ofApp(app)}`;

/**
 * Reads the number of events in the facts below `published`, and when the last of those of pages was inserted. `published`
 * was read before: sums of one table each, side by side, take two thirds of the time of one statement that derives the
 * watermark first.
 */
export const sealedRows = (app: AppId, { page, session }: PublishedFacts): Sql =>
  sql`SELECT ${quoted(SEALED)}, [toInt64(sumIf(h.events, ${below('page', page)})), toInt64(sumIf(h.events, ${below('session', session)})), toInt64(maxIf(h.inserted_until, ${below('page', page)}))] FROM sealed_hours AS h WHERE ${ofApp(app)}`;

/** The name of its row. */
const SEALED = 'sealed';

/** SQL condition on rows of `sealed_hours AS h`: they are of an app's facts below the watermark. */
const below = (kind: FactKind, { until, dead }: Published): Sql =>
  sql`kind = ${quoted(kind)} AND h.hour < ${bucket(until)}${without(sql`h.run`, dead)}`;

/** The bounds of the bands of the ledger: the watermarks of `published`, and the bounds of the scopes. */
export const ledgerBounds = ({ page, session }: PublishedFacts, scopes: readonly Scope[]): number[] => [
  page.until,
  session.until,
  ...boundsOfAll(scopes),
];

/** Reads the events in the ledger, in bands with these bounds. */
export const ledgerRows = (app: AppId, bounds: readonly number[]): Sql =>
  bandRows('ledger', app, bounds, TIMES);

/** When the newest event of a band was stored, and the bounds of its times. */
const TIMES = [sql`max(h.last_insert)`, sql`min(h.oldest)`, sql`max(h.newest)`].map(
  (at) => sql`toUnixTimestamp64Milli(${at})`,
);

/** Reads the events that were begun, in bands that end at the bounds of the scopes. */
export const begunRows = (app: AppId, scopes: readonly Scope[]): Sql =>
  bandRows('ingest_begun', app, boundsOfAll(scopes));

const boundsOfAll = (scopes: readonly Scope[]): number[] =>
  scopes.flatMap(({ events, sessions }) =>
    [events, sessions].flatMap((range) => (range === null ? [] : boundsOf(range))),
  );

/** Counts the events of the scope. */
export const eventsIn = (bands: readonly Band[], { events, sessions }: Scope): EventCounts => [
  eventsWithin(bands, 'page', events),
  eventsWithin(bands, 'session', sessions),
];

const eventsWithin = (bands: readonly Band[], kind: FactKind, range: Range | null): number =>
  range === null ? 0 : eventsBetween(bands, LEDGER_KIND[kind], ...boundsOf(range));

/** SQL of the numbers of erasures that have begun and that have ended, for rows of `erasures`. */
export const ERASURES = sql`toInt64(uniqExact(erasure_id)), toInt64(uniqExactIf(erasure_id, ended = 1))`;

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
}

/** Takes the rows of `stateRows` and `sealedRows`, by name, and the bands of `ledgerRows` apart. */
export function numbersOf(found: Found, bands: readonly Band[], published: PublishedFacts): Numbers {
  const [keptFrom = 0] = found.get('kept') ?? [];
  const [page = 0, session = 0, heldUntil = 0] = found.get(SEALED) ?? [];
  const ofSessions = bands.filter(({ kind }) => kind === LEDGER_KIND.session);
  const sessionEvents = ofSessions.reduce((sum, { events }) => sum + events, 0);
  return {
    keptFrom: epochMs(keptFrom),
    sealed: { page, session },
    heldUntil: epochMs(heldUntil),
    ledger: byName(FACT_KINDS, (kind) => eventsBetween(bands, LEDGER_KIND[kind], 0, published[kind].until)),
    ...erasuresOf(found),
    sessionEvents,
    pendingEvents: sessionEvents - session,
    starts: sessionEvents === 0 ? null : timesOf(ofSessions),
    extent: sessionEvents === 0 ? null : timesOf(bands),
    asOf: bands.length === 0 ? null : epochMs(Math.max(...bands.map(({ more: [inserted = 0] }) => inserted))),
  };
}

/** Rows of an erasure change no bound: they say that the oldest event is later than any, and the newest earlier. */
const timesOf = (bands: readonly Band[]): Range => ({
  from: epochMs(Math.min(...bands.map(({ more: [, oldest = 0] }) => oldest))),
  to: epochMs(Math.max(...bands.map(({ more: [, , newest = 0] }) => newest))),
});
