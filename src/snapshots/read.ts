import type { Database } from '../clickhouse/database.ts';
import { join, sql } from '../clickhouse/sql.ts';
import { byName } from '../domain/by-name.ts';
import { FACT_KINDS } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import type { Scope } from '../domain/scope.ts';
import { type Elapsed, MINUTE_MS } from '../domain/time.ts';
import { type Band, bandsOf } from './bands.ts';
import { type LateRead, NO_LATE_READ, readLate } from './late.ts';
import { type LateHours, readLateHours } from './late-hours.ts';
import { isSame, type Published, type PublishedFacts, publishedOf, publishedRows } from './published.ts';
import {
  type EventCounts,
  eraOf,
  eventsIn,
  ledgerBounds,
  ledgerRows,
  numbersOf,
  ROW,
  type Row,
  SEALED,
  type State,
  sealedRows,
  stateRows,
  withCommits,
} from './rows.ts';

/** The state of an app's data at a moment. */
export interface Snapshot extends State {
  readonly published: PublishedFacts;
  /** If more than MOST_LATE_HOURS are late, only the first ones. */
  readonly late: LateHours;
  /** While it is unchanged, all rows that this snapshot refers to exist. */
  readonly era: string;
  /**
   * Changes when facts are dropped because they may have been wrong, with the horizon, and with each erasure: no older
   * answer is confirmed after that.
   */
  readonly rebuilt: string;
  readonly version: EventCounts;
  /**
   * Tails of events are not read beyond a range (see `tailEnd`). They never are if several processes are on the store: none
   * knows the times of the events that others are storing, so each answer would be computed twice while events come in.
   */
  readonly endsExactly: boolean;
  /** All commits up to here were visible when it was read; null if other processes commit, too. */
  readonly position: number | null;
}

/** The rows about facts of a snapshot's statements. Without other writers they hold until such a write begins. */
interface FactsRead {
  /** The rows of `stateRows`, by name. */
  readonly state: ReadonlyMap<string, Row[1]>;
  /** The row of `sealedRows`; null before it was read for the published state. */
  readonly sealed: Row[1] | null;
  /** The stamp before the state was read; null if there may be other writers. */
  readonly stamp: number | null;
  /** By the reader's elapsed time. Hours that are sealed after the statement are used from then on. */
  readonly until: number;
}
const FACTS_MS = MINUTE_MS;

/** The bands of an app's ledger. */
interface LedgerRead {
  readonly bands: readonly Band[];
  readonly bounds: readonly number[];
  /** They hold exactly the commits up to here; null if it is not known which they hold. */
  readonly position: number | null;
}

/** The rows with which the next snapshot begins. */
export interface LastRead extends LateRead {
  readonly published: PublishedFacts;
  readonly facts: FactsRead;
  readonly ledger: LedgerRead;
}

const NO_LEDGER: LedgerRead = { bands: [], bounds: [], position: null };

/**
 * Reads how far an app is sealed, which of its sealed hours are late, and the version of the data in each of
 * the scopes. If the published state is not that of `known`, all that depends on it is read again. The first time, the
 * state is read before. Late hours are read again only if they may have changed. If this process alone writes, the same
 * applies to the state of facts, and its commits are added to the ledger that was read last.
 */
export async function readSnapshots(
  db: Database,
  app: AppId,
  scopes: readonly Scope[],
  now: Elapsed,
  known?: LastRead,
): Promise<{ readonly snapshots: readonly Snapshot[]; readonly read: LastRead }> {
  const last = known ?? (await readState(db, app, now));
  const { published } = last;
  const position = db.own.position(app);
  const { facts, ledger, early } = await readNumbers(db, app, scopes, now, last);
  const latest = publishedIn(facts.state);
  if (FACT_KINDS.some((kind) => !isSame(latest[kind], published[kind]))) {
    return readSnapshots(db, app, scopes, now, {
      ...last,
      published: latest,
      facts: { ...facts, sealed: null },
    });
  }
  const { sealed, ledger: committed, ...own } = numbersOf(facts.state, facts.sealed, ledger.bands, published);
  const numbers = { ...own, sealed, ledger: committed };
  const lateRead = await readLate(db, app, published, numbers, last, early);
  const state = {
    ...own,
    published,
    late: lateRead.late,
    era: eraOf(facts.state),
    position,
    endsExactly: !db.exclusive,
    rebuilt: `${rebuiltOf(published.page)} ${rebuiltOf(published.session)} ${own.erasures}`,
  };
  return {
    snapshots: scopes.map((scope) => ({ ...state, version: eventsIn(ledger.bands, scope) })),
    read: { ...lateRead, published, facts, ledger },
  };
}

interface NumbersRead extends Pick<LastRead, 'facts' | 'ledger'> {
  /** The late hours, if they were read beside. */
  readonly early: LateHours | null;
}

/** Reads the unknown parts of the state of facts and of the ledger. */
async function readNumbers(
  db: Database,
  app: AppId,
  scopes: readonly Scope[],
  now: Elapsed,
  { published, facts, ledger, grows }: LastRead,
): Promise<NumbersRead> {
  const [changes, stamp] = [db.own.stampOfChanges(app), db.own.stamp(app)];
  const isKnown = changes !== null && changes === facts.stamp && now() < facts.until;
  const isCounted = isKnown && facts.sealed !== null;
  const bounds = ledgerBounds(published, scopes);
  const committed = isCounted ? committedLedger(db, app, ledger, bounds) : null;
  if (committed !== null) return { facts, ledger: committed, early: null };
  const parts = [
    ...(isKnown ? [] : [stateRows(app)]),
    ...(isCounted ? [] : [sealedRows(app, published)]),
    ledgerRows(app, bounds),
  ];
  const name = isCounted ? 'snapshot, new events' : isKnown ? 'snapshot, counts' : 'snapshot';
  const [rows, early] = await Promise.all([
    // The lookup lane: the statement is small, and a poller's 304 must not wait behind heavy questions.
    db.rows({ name, sql: join(parts, sql`\nUNION ALL\n`), row: ROW }, { lane: 'lookup' }),
    grows ? readLateHours(db, app, published) : null,
  ]);
  const isExact = stamp !== null && db.own.stamp(app) === stamp;
  const found = new Map(rows);
  const state = isKnown ? facts : { state: found, stamp: changes, until: now() + FACTS_MS };
  return {
    facts: isCounted ? facts : { ...state, sealed: found.get(SEALED) ?? null },
    ledger: { bands: bandsOf('ledger', rows), bounds, position: isExact ? stamp : null },
    early,
  };
}

/** Adds the commits since the ledger was read; null if they are not known, or if other bounds are needed. */
function committedLedger(
  db: Database,
  app: AppId,
  { bands, bounds, position }: LedgerRead,
  needed: readonly number[],
): LedgerRead | null {
  const commits = db.own.endedSince(app, position);
  if (commits === null || !needed.every((bound) => bounds.includes(bound))) return null;
  return { bands: withCommits(bands, bounds, commits), bounds, position: db.own.position(app) };
}

/** Reads the state alone: the number of sealed events and the bands of the ledger depend on it. */
async function readState(db: Database, app: AppId, now: Elapsed): Promise<LastRead> {
  const stamp = db.own.stampOfChanges(app);
  // Without a stamp, the rest of the state is read again with the counts.
  const statement = stamp === null ? publishedRows(app) : stateRows(app);
  const query = { name: 'snapshot, state', sql: statement, row: ROW };
  const state = new Map(await db.rows(query, { lane: 'lookup' }));
  const facts = { state, sealed: null, stamp, until: now() + FACTS_MS };
  return { ...NO_LATE_READ, published: publishedIn(state), facts, ledger: NO_LEDGER };
}

const publishedIn = (found: ReadonlyMap<string, readonly number[]>): PublishedFacts =>
  byName(FACT_KINDS, (kind) => publishedOf(found.get(kind)));

const rebuiltOf = ({ rebuilt, horizon }: Published): string => `${rebuilt} ${horizon}`;
