import { z } from 'zod';
import type { Database } from '../clickhouse/database.ts';
import { ofApp } from '../clickhouse/literals.ts';
import type { AppId } from '../domain/ids.ts';
import type { ReadSnapshot } from './snapshots.ts';
import type { Underway } from './underway.ts';
import { eventsWithin, type Scope, type Snapshot } from './watermarks.ts';

/**
 * Returns the number of events in the scope whose storing has begun, or null while some are being stored.
 * Read it after the answer is computed, and compare it with the version of a snapshot from before. If both
 * are equal, the answer rests on exactly that version: every event that the answer may have seen was begun,
 * so it is counted here, so it was committed before the snapshot was read.
 */
export type ReadBegun = (app: AppId, scope: Scope) => Promise<Snapshot['version'] | null>;

export interface BegunDeps {
  readonly db: Database;
  readonly snapshots: ReadSnapshot;
  readonly underway: Underway;
}

/** A process that is alone on its store knows this from memory; otherwise the store is asked. */
export function createBegun({ db, snapshots, underway }: BegunDeps): ReadBegun {
  if (!db.exclusive) return (app, scope) => readBegun(db, app, scope);
  return async (app, scope) => {
    // In this order: events that are committed between the two lines are in the snapshot.
    if (underway.touches(app, scope)) return null;
    return (await snapshots(app, scope)).version;
  };
}

async function readBegun(
  db: Database,
  app: AppId,
  { events, sessions }: Scope,
): Promise<Snapshot['version']> {
  const { counted } = await db.queryOne(
    {
      name: 'begun',
      sql: `SELECT [${eventsWithin('event', events)}, ${eventsWithin('session', sessions)}] AS counted FROM ingest_begun AS h WHERE ${ofApp(app)}`,
      row: z.object({ counted: z.tuple([z.number(), z.number()]) }),
    },
    {},
    { lane: 'lookup' },
  );
  return counted;
}
