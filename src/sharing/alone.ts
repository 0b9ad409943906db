import type { Database } from '../clickhouse/database.ts';
import { inProcessLocks } from '../domain/locks.ts';
import { PAUSE_SECONDS } from '../ingestion/journal-sql.ts';
import { KnownBatches } from '../ingestion/known-batches.ts';
import { TokenMemory } from '../ingestion/tokens.ts';
import { OwnChanges } from '../metadata/changes.ts';
import { begunInMemory } from '../snapshots/begun.ts';
import type { Flushes, Sharing } from './sharing.ts';

/** A process with an embedded store: no other process opens its folder. */
export const alone = (db: Database): Sharing => ({
  locks: inProcessLocks,
  sealing: () => ({
    hold: async (work) => {
      await work(new AbortController().signal);
      return true;
    },
  }),
  changes: (elapsed) => new OwnChanges(elapsed),
  begun: (snapshots) => begunInMemory(db, snapshots),
  countBegun: async () => undefined,
  flushes: () => flushesOf(db),
  patience: () => 0,
  isStillAtStart: true,
});

function flushesOf(db: Database): Flushes {
  const tokens = new TokenMemory(db);
  return {
    known: new KnownBatches(),
    // Those of the process before it are settled at the start.
    ofOthers: async () => [],
    pause: async (writers) => {
      writers.pause();
      const lapse = setTimeout(() => writers.resume(), PAUSE_SECONDS * 1000).unref();
      return {
        end: async () => {
          clearTimeout(lapse);
          writers.resume();
        },
      };
    },
    areUnwritten: (writers) => writers.areStoring,
    keepUp: (areFlushesRepeated) => tokens.keepUp(areFlushesRepeated),
  };
}
