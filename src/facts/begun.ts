import { z } from 'zod';
import type { Database } from '../clickhouse/database.ts';
import { ofApp } from '../clickhouse/literals.ts';
import type { AppId } from '../domain/ids.ts';
import type { ReadSnapshot } from './snapshots.ts';
import type { Underway } from './underway.ts';
import { eventsWithin, type Scope, type Snapshot } from './watermarks.ts';

/**
 * The version of an app's data with all events whose storing has begun, or null where some are being stored now. An answer rests
 * on one version, and on nothing else, where this is the snapshot's: the snapshot read before the answer was computed, and this after
 * it. For an event that the answer may hold was begun before this was read. So it is counted here, and where the two numbers are the
 * same, it was committed before the snapshot was read, and is in the answer with all its rows.
 */
export type ReadBegun = (app: AppId, scope: Scope) => Promise<Snapshot['version'] | null>;

export interface BegunDeps {
  readonly db: Database;
  readonly snapshots: ReadSnapshot;
  readonly underway: Underway;
}

/** This process knows by itself where it is alone on its store; else the store is asked. */
export function createBegun({ db, snapshots, underway }: BegunDeps): ReadBegun {
  if (!db.exclusive) return (app, scope) => readBegun(db, app, scope);
  return async (app, scope) => {
    // In this order: what is committed in between is in the snapshot.
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
