import { z } from 'zod';
import type { Database, RunOptions } from '../clickhouse/database.ts';
import { dateTime64 } from '../clickhouse/database.ts';
import type { Locks } from '../domain/locks.ts';
import { type Clock, type EpochMs, epochMs, toIso } from '../domain/time.ts';
import type { Changes, Elapsed } from './changes.ts';
import type { NextVersion } from './versions.ts';

/** What the parts of the metadata share. */
export interface MetadataParts {
  readonly db: Database;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly elapsed: Elapsed;
  readonly locks: Locks;
  readonly nextVersion: NextVersion;
}

/** A look-up by id or hash takes milliseconds: one that hangs must not outlive the cache's freshness. */
export const LOOK_UP: RunOptions = { lane: 'lookup', maxSeconds: 4 };

/** What a write is about after which somebody may see other apps. */
export const APP_LISTS = 'app lists';

/** How many accounts, keys, apps or shares a process remembers. */
export const CACHED = 20_000;

export const Instant = z.int().transform(epochMs);
export const Version = z.int();

/** A nullable DateTime64(3) column's value. */
export const instantColumn = (at: EpochMs | null): string | null => (at === null ? null : dateTime64(at));

export const isoOrNull = (at: EpochMs | null): string | null => (at === null ? null : toIso(at));

/** The earlier of an end that is set, or not, and another. */
export const earlier = (end: EpochMs | null, other: EpochMs): EpochMs =>
  end !== null && end < other ? end : other;

/** Expiry is to the millisecond, by the clock at each use: at `expiresAt` itself it is over. */
export const hasExpired = (expiresAt: EpochMs | null, now: EpochMs): boolean =>
  expiresAt !== null && now >= expiresAt;
