import type { InsertOptions, Params, RunOptions } from '../clickhouse/database.ts';
import type { Sql } from '../clickhouse/sql.ts';
import type { Locks } from '../domain/locks.ts';
import type { Elapsed } from '../domain/time.ts';
import type { KnownBatches } from '../ingestion/known-batches.ts';
import type { Changes } from '../metadata/changes.ts';
import type { RedisLink } from '../redis/link.ts';
import type { ReadBegun } from '../snapshots/begun.ts';
import type { ReadSnapshot } from '../snapshots/snapshots.ts';

/**
 * This process among the others on its store: all that differs if there are others. A process that is alone (alone.ts)
 * knows everything by itself and tells nobody. A process with others (shared.ts) asks the store and writes down what they
 * need. Nothing else in the code depends on which of the two it is.
 */
export interface Sharing {
  /** Locks that keep apart whatever uses the store. `redis`: null if there is none. */
  locks(redis: RedisLink | null): Locks;
  /** Keeps two processes from sealing at once. */
  sealing(): Lease;
  /** Tells how long metadata is unchanged that was read. `elapsed`: a monotonic clock. */
  changes(elapsed: Elapsed): Changes;
  /** Tells which events may be visible by now. */
  begun(snapshots: ReadSnapshot): ReadBegun;
  /**
   * Tells others of events that are visible from now on, or with `sign: -1` never will be, or no longer are. `times`
   * selects app_id, started_at and timestamp of each event.
   */
  countBegun(times: Sql, params: SignedParams, options?: CountOptions): Promise<void>;
  /** How this process stores its flushes. */
  flushes(): Flushes;
  /** How long something unfinished is left to a process that may be alive: `ms`, or 0 if there is no other process. */
  patience(ms: number): number;
  /** True if nothing uses the store while this process starts. */
  readonly isStillAtStart: boolean;
}

type SignedParams = Params & { readonly sign: 1 | -1 };

/** `table`: another table of the same columns. */
export type CountOptions = InsertOptions & RunOptions & { readonly table?: string };

export interface Lease {
  /**
   * Runs `work` unless another process holds the lease; resolves to false then. Aborts `work` if the lease is
   * lost.
   */
  hold(work: (signal: AbortSignal) => Promise<void>): Promise<boolean>;
}

/** The part of this process's writers that a pause needs. */
export interface Pausable {
  pause(): void;
  resume(): void;
  /** True while a flush runs. */
  readonly areStoring: boolean;
}

/** The flushes of this process, beside those of others. */
export interface Flushes {
  /** The batches that may be stored. Null if only the store knows, because others store batches, too. */
  readonly known: KnownBatches | null;
  /** The ids of flushes with events of the app that others may still be storing. */
  ofOthers(app: string): Promise<readonly string[]>;
  /** Keeps every process from beginning to store a flush, until `end`. It lapses after PAUSE_SECONDS. */
  pause(writers: Pausable): Promise<{ end(): Promise<void> }>;
  /** True if this process may store a flush that the journal does not tell of yet. */
  areUnwritten(writers: Pausable): boolean;
  /** Limits the memory that tokens of inserts take. Call it at the start, and then every half minute. */
  keepUp(areFlushesRepeated: boolean): Promise<void>;
}
