import { z } from 'zod';
import type { Database } from '../clickhouse/database.ts';
import { ofApp } from '../clickhouse/literals.ts';
import { join, sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { byScope } from './by-scope.ts';
import { ERASURES, eventsOf, type Scope, type Snapshot, versionsOf } from './read-snapshots.ts';
import type { ReadSnapshot } from './snapshots.ts';
import type { Underway } from './underway.ts';

/** A version of the data in a scope. */
export type Version = Pick<Snapshot, 'version' | 'erasures'>;

/**
 * Returns the number of events in the scope whose storing has begun, or null while some are being stored or a visitor
 * is being erased. Read it after the answer is computed, and compare it with the version of a snapshot from before. If
 * both are equal, the answer rests on exactly that version: every event that the answer may have seen was begun, so it
 * is counted here, so it was committed before the snapshot was read; and no erasure began in between.
 */
export type ReadBegun = (app: AppId, scope: Scope) => Promise<Version | null>;

export const isSameVersion = (one: Version, other: Version): boolean =>
  one.version[0] === other.version[0] &&
  one.version[1] === other.version[1] &&
  one.erasures === other.erasures;

export interface BegunDeps {
  readonly db: Database;
  readonly snapshots: ReadSnapshot;
  readonly underway: Underway;
}

/** A process that is alone on its store knows this from memory; otherwise the store is asked. */
export function createBegun({ db, snapshots, underway }: BegunDeps): ReadBegun {
  if (!db.exclusive) return byScope((app, scopes) => readBegun(db, app, scopes));
  return async (app, scope) => {
    // In this order: events that are committed between the two lines are in the snapshot.
    if (underway.touches(app, scope)) return null;
    const snapshot = await snapshots(app, scope);
    return snapshot.isErasing ? null : snapshot;
  };
}

async function readBegun(
  db: Database,
  app: AppId,
  scopes: readonly Scope[],
): Promise<readonly (Version | null)[]> {
  const { counted, erasures } = await db.queryOne(
    {
      name: 'begun',
      sql: sql`SELECT [${join(scopes.map(eventsOf))}] AS counted,
    (SELECT [${ERASURES}] FROM erasures WHERE ${ofApp(app)}) AS erasures FROM ingest_begun AS h WHERE ${ofApp(app)}`,
      row: z.object({
        counted: z.array(z.number()),
        erasures: z.tuple([z.number(), z.number()]),
      }),
    },
    {},
    { lane: 'lookup' },
  );
  const [begun, ended] = erasures;
  const text = `${begun} ${ended}`;
  return versionsOf(counted).map((version) => (begun === ended ? { version, erasures: text } : null));
}
