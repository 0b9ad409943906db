import { randomUUID } from 'node:crypto';
import type { Database } from '../clickhouse/database.ts';
import { inProcessLocks } from '../domain/locks.ts';
import { UNSETTLED } from '../ingestion/journal-sql.ts';
import { BEGUN_COLUMNS, begunRows } from '../ingestion/ledger-rows.ts';
import { SeenChanges } from '../metadata/changes.ts';
import { createRedisLocks } from '../redis/locks.ts';
import { begunInStore } from '../snapshots/begun.ts';
import { StoreLease } from './lease.ts';
import type { Flushes, Sharing } from './sharing.ts';

/** A process on a ClickHouse server, which others may use at the same time. */
export const shared = (db: Database): Sharing => ({
  // Without Redis it has to be the only one.
  locks: (redis) => (redis === null ? inProcessLocks() : createRedisLocks(redis, inProcessLocks())),
  sealing: () => new StoreLease(db),
  changes: (elapsed) => new SeenChanges(db, elapsed),
  begun: () => begunInStore(db),
  countBegun: (times, params, { table = 'ingest_begun', ...options } = {}) =>
    db.insertFrom(table, BEGUN_COLUMNS, begunRows(times), params, options),
  flushes: () => flushesOf(db),
  patience: (ms) => ms,
  isStillAtStart: false,
});

const flushesOf = (db: Database): Flushes => ({
  known: null,
  ofOthers: async (app) => (await db.queryOne(UNSETTLED, { app }, { lane: 'write' })).flushes,
  pause: async () => {
    const pause = randomUUID();
    const say = (ended: 0 | 1): Promise<void> => db.insert('ingest_pauses', [{ pause_id: pause, ended }]);
    await say(0);
    return { end: () => say(1) };
  },
  // A flush is written down before its verdict, for which it waits while there is a pause.
  areUnwritten: () => false,
  // A server's memory is its own.
  keepUp: async () => undefined,
});
