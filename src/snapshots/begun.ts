import type { Database } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import type { Scope } from '../domain/scope.ts';
import { type EpochMs, epochMs } from '../domain/time.ts';
import { bandsOf } from './bands.ts';
import { byScope } from './by-scope.ts';
import type { Snapshot } from './read.ts';
import { begunRows, eraOf, erasuresOf, eventsIn, ROW, stateRows } from './rows.ts';
import type { ReadSnapshot } from './snapshots.ts';

/** A version of the data in a scope. */
export type Version = Pick<Snapshot, 'version' | 'erasures'>;

export interface Begun {
  /**
   * The number of events in the scope whose storing has begun. Null while some are being stored, or a visitor is being
   * erased.
   */
  readonly version: Version | null;
  /** The time of the last event of the app whose storing has begun; null if it is not known. */
  readonly last: EpochMs | null;
  /** The app's era. */
  readonly era: string;
}

/**
 * Read it after the answer is computed, and compare it with a snapshot from before. If the versions are equal, the answer
 * rests on exactly that version: every event that the answer may have seen was begun, so it is counted here, so it was
 * committed before the snapshot was read; and no erasure began in between.
 */
export type ReadBegun = (app: AppId, scope: Scope) => Promise<Begun>;

export const isSameVersion = (one: Version, other: Version): boolean =>
  one.version[0] === other.version[0] &&
  one.version[1] === other.version[1] &&
  one.erasures === other.erasures;

/** For a process that stores all events of its store. */
export function begunInMemory(db: Database, snapshots: ReadSnapshot): ReadBegun {
  return async (app, scope) => {
    // In this order: events that are committed between the two lines are in the snapshot.
    const { underway } = db.own;
    const [isStoring, stored] = [underway.touches(app, scope), underway.last(app)];
    const snapshot = await snapshots(app, scope);
    return {
      version: isStoring || snapshot.isErasing ? null : snapshot,
      last: stored === null ? null : epochMs(Math.max(stored, snapshot.extent?.to ?? 0)),
      era: snapshot.era,
    };
  };
}

/** For a process with others on its store: `ingest_begun` counts their events, too. */
export const begunInStore = (db: Database): ReadBegun => byScope((app, scopes) => readBegun(db, app, scopes));

async function readBegun(db: Database, app: AppId, scopes: readonly Scope[]): Promise<readonly Begun[]> {
  const statement = sql`${stateRows(app)}\nUNION ALL\n${begunRows(app, scopes)}`;
  const rows = await db.rows({ name: 'begun', sql: statement, row: ROW }, { lane: 'lookup' });
  const found = new Map(rows);
  const [era, { erasures, isErasing }] = [eraOf(found), erasuresOf(found)];
  const bands = bandsOf('ingest_begun', rows);
  return scopes.map((scope) => ({
    version: isErasing ? null : { version: eventsIn(bands, scope), erasures },
    last: null,
    era,
  }));
}
