import type { Database } from '../clickhouse/database.ts';
import { join, type Sql, sql } from '../clickhouse/sql.ts';
import { byName } from '../domain/by-name.ts';
import { FACT_KINDS } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import type { Scope } from '../domain/scope.ts';
import { bandsOf } from './bands.ts';
import type { LateHours } from './late-hour.ts';
import { type LateRead, NO_LATE_READ, readLate } from './late-hours.ts';
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
  type State,
  sealedRows,
  stateRows,
} from './rows.ts';
import type { Ends } from './tail-end.ts';

/** The state of an app's data at a moment. */
export interface Snapshot extends State, Ends {
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
}

/** What the next snapshot begins with. */
export interface LastRead extends LateRead {
  readonly published: PublishedFacts;
}

/**
 * Reads how far an app is sealed, which of its sealed hours are late, and the version of the data in each of the scopes. The
 * numbers depend on the published state. If it is not that of `known`, they are read again; the first time, it is read before.
 */
export async function readSnapshots(
  db: Database,
  app: AppId,
  scopes: readonly Scope[],
  known?: LastRead,
): Promise<{ readonly snapshots: readonly Snapshot[]; readonly read: LastRead }> {
  const last = known ?? {
    ...NO_LATE_READ,
    published: publishedIn(await rowsOf(db, 'state', publishedRows(app))),
  };
  const { published } = last;
  const parts = [
    stateRows(app),
    sealedRows(app, published),
    ledgerRows(app, ledgerBounds(published, scopes)),
  ];
  const rows = await rowsOf(db, 'numbers', join(parts, sql`\nUNION ALL\n`));
  const latest = publishedIn(rows);
  if (FACT_KINDS.some((kind) => !isSame(latest[kind], published[kind]))) {
    return readSnapshots(db, app, scopes, { ...last, published: latest });
  }
  const found = new Map(rows);
  const bands = bandsOf('ledger', rows);
  const numbers = numbersOf(found, bands, published);
  const { sealed: _, ledger: __, ...own } = numbers;
  const lateRead = await readLate(db, app, published, numbers, last);
  const state = {
    ...own,
    published,
    late: lateRead.late,
    era: eraOf(found),
    endsExactly: !db.own.areAll,
    rebuilt: `${rebuiltOf(published.page)} ${rebuiltOf(published.session)} ${own.erasures}`,
  };
  return {
    snapshots: scopes.map((scope) => ({ ...state, version: eventsIn(bands, scope) })),
    read: { ...lateRead, published },
  };
}

/** On the lookup lane: the statement is small, and a poller's 304 must not wait behind heavy questions. */
const rowsOf = (db: Database, name: string, statement: Sql): Promise<Row[]> =>
  db.rows({ name: `snapshot, ${name}`, sql: statement, row: ROW }, { lane: 'lookup' });

const publishedIn = (rows: readonly Row[]): PublishedFacts => {
  const found = new Map(rows);
  return byName(FACT_KINDS, (kind) => publishedOf(found.get(kind)));
};

const rebuiltOf = ({ rebuilt, horizon }: Published): string => `${rebuilt} ${horizon}`;
