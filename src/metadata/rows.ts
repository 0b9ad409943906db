import { z } from 'zod';
import type { Database, RunOptions } from '../clickhouse/database.ts';
import { dateTime64 } from '../clickhouse/database.ts';
import type { Locks } from '../domain/locks.ts';
import { type Clock, type Elapsed, type EpochMs, epochMs, toIso } from '../domain/time.ts';
import type { Changes } from './changes.ts';
import type { RetentionOfPlans } from './types.ts';
import type { NextVersion } from './versions.ts';

/** Dependencies of the parts of the metadata. */
export interface MetadataParts {
  readonly db: Database;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly elapsed: Elapsed;
  readonly locks: Locks;
  readonly nextVersion: NextVersion;
  readonly retentionOfPlans: RetentionOfPlans;
}

/**
 * Limits of a look-up by id or hash. It takes milliseconds; if it hangs, it must not outlive the cache's
 * freshness.
 */
export const LOOK_UP: RunOptions = { lane: 'lookup', maxSeconds: 4 };

/** Names the writes after which an account may see other apps. */
export const APP_LISTS = 'app lists';

/** The number of accounts, keys, apps or shares in a process's cache. */
export const CACHED = 20_000;

export const Instant = z.int().transform(epochMs);
export const Version = z.int();

/** The value of a nullable DateTime64(3) column. */
export const instantColumn = (at: EpochMs | null): string | null => (at === null ? null : dateTime64(at));

export const isoOrNull = (at: EpochMs | null): string | null => (at === null ? null : toIso(at));

/** Returns the earlier of an optional end and another time. */
export const earlier = (end: EpochMs | null, other: EpochMs): EpochMs =>
  end !== null && end < other ? end : other;

/** True from `expiresAt` itself on. Expiry is to the millisecond, by the clock at each use. */
export const hasExpired = (expiresAt: EpochMs | null, now: EpochMs): boolean =>
  expiresAt !== null && now >= expiresAt;
