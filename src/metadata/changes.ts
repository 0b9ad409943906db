import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { identifier, join, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import type { Elapsed } from '../domain/time.ts';

const LOOK_MS = 2_000;
/** Data that was used within this time is watched. It covers a poll every minute, and some late ones. */
export const IN_USE_MS = 300_000;

const KINDS = ['account', 'key', 'app', 'share', 'member', 'session', 'link'] as const;
/** A kind of data with its own cache. */
export type Kind = (typeof KINDS)[number];

/** The position of a read of the store among other reads. */
export interface Reading {
  readonly order: number;
  readonly at: number;
}

/** Knowledge about changes in the store. */
export interface Changes {
  /** Call it before the store is read. */
  reading(): Reading;
  /** Records that cached data is used. Changes are watched for some minutes from now on. */
  used(): void;
  /**
   * The last moment for which the data that was read is known to be unchanged; at least the moment of the
   * read.
   */
  knownAt(kind: Kind, key: string, reading: Reading): number;
  /** True if data in the same bucket has changed since. Read it again before a caller waits for it. */
  isOutdated(kind: Kind, key: string, reading: Reading): boolean;
  /** Calls `look` after each change. */
  onChange(look: () => void): void;
  close(): Promise<void>;
}

/**
 * Changes on a store without other writers. Each write here invalidates its own cache entry; all other
 * entries stay valid.
 */
export class OwnChanges implements Changes {
  readonly #elapsed: Elapsed;

  constructor(elapsed: Elapsed) {
    this.#elapsed = elapsed;
  }

  reading(): Reading {
    return { order: 0, at: this.#elapsed() };
  }

  used(): void {}

  knownAt(): number {
    return this.#elapsed();
  }

  isOutdated(): boolean {
    return false;
  }

  onChange(): void {}

  async close(): Promise<void> {}
}

const statesOf = (table: string, key: string, ...more: string[]): Sql =>
  sql`SELECT ${identifier(key)} AS key, cityHash64(${join([quoted(table), ...[key, ...more].map(identifier)])}, version) AS state FROM ${identifier(table)} FINAL`;
const fingerprintsOf = (kind: Kind, ...states: Sql[]): Sql =>
  sql`SELECT ${quoted(kind)}, substring(toString(key), 1, 2) AS bucket, toString(sum(state))
FROM (${join(states, sql` UNION ALL `)})
GROUP BY bucket`;

/**
 * One number for all rows whose keys begin with the same two characters. It changes with every write to one
 * of them.
 */
const FINGERPRINTS: Query<readonly [Kind, string, string]> = {
  name: 'fingerprints of metadata',
  sql: join(
    [
      fingerprintsOf(
        'account',
        statesOf('accounts', 'account_id'),
        statesOf('deleted_accounts', 'account_id'),
      ),
      fingerprintsOf('key', statesOf('api_keys', 'key_hash')),
      fingerprintsOf(
        'app',
        statesOf('apps', 'app_id'),
        statesOf('app_secrets', 'app_id', 'secret_hash'),
        statesOf('deleted_apps', 'app_id'),
        statesOf('app_retention', 'app_id'),
        statesOf('app_exclusions', 'app_id'),
      ),
      fingerprintsOf('share', statesOf('app_shares', 'app_id', 'account_id')),
      fingerprintsOf('member', statesOf('console_members', 'email', 'account_id')),
      fingerprintsOf('session', statesOf('console_sessions', 'session_id')),
      fingerprintsOf('link', statesOf('app_links', 'link_id')),
    ],
    sql`\nUNION ALL\n`,
  ),
  row: z.tuple([z.enum(KINDS), z.string(), z.string()]),
};

interface Bucket {
  readonly fingerprint: string;
  /** The end of the look that first saw this fingerprint. Later reads returned this state or a newer one. */
  readonly since: number;
}

/**
 * Changes on a store with other writers. Looks at the store every 2 s while cached data is used. A version of
 * a row never comes back, so two looks with the same fingerprint mean that nothing was written between them.
 * Data that was read after the first look is then known to be valid until the second one began.
 */
export class SeenChanges implements Changes {
  readonly #db: Database;
  readonly #elapsed: Elapsed;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners: (() => void)[] = [];
  #order = 0;
  #usedAt = Number.NEGATIVE_INFINITY;
  #buckets: ReadonlyMap<string, Bucket> = new Map();
  /** The start of the last look that succeeded. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(db: Database, elapsed: Elapsed) {
    this.#db = db;
    this.#elapsed = elapsed;
    this.#timer = setInterval(() => {
      if (this.#elapsed() - this.#usedAt < IN_USE_MS) this.#looking ??= this.#look();
    }, LOOK_MS).unref();
  }

  reading(): Reading {
    this.#order++;
    return { order: this.#order, at: this.#elapsed() };
  }

  used(): void {
    this.#usedAt = this.#elapsed();
  }

  knownAt(kind: Kind, key: string, { order, at }: Reading): number {
    const bucket = this.#buckets.get(bucketOf(kind, key));
    return bucket === undefined || order < bucket.since ? at : Math.max(at, this.#lookedAt);
  }

  isOutdated(kind: Kind, key: string, { order }: Reading): boolean {
    const bucket = this.#buckets.get(bucketOf(kind, key));
    return bucket !== undefined && order < bucket.since;
  }

  onChange(look: () => void): void {
    this.#listeners.push(look);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const began = this.#elapsed();
    try {
      this.#take(await this.#db.rows(FINGERPRINTS, { lane: 'lookup' }));
      this.#lookedAt = began;
    } catch {
      // Without a look, cached data expires, and the next caller gets the store's own answer.
    } finally {
      this.#looking = undefined;
    }
  }

  #take(rows: readonly (readonly [Kind, string, string])[]): void {
    this.#order++;
    let changed = false;
    const fingerprints = new Map(rows.map(([kind, start, text]) => [bucketOf(kind, start), text]));
    const buckets = new Map<string, Bucket>();
    // A bucket without rows is remembered: its last row may have been erased since the look before.
    for (const name of new Set([...fingerprints.keys(), ...this.#buckets.keys()])) {
      const fingerprint = fingerprints.get(name) ?? NO_ROWS;
      const before = this.#buckets.get(name);
      const same = before?.fingerprint === fingerprint;
      changed ||= !same;
      buckets.set(name, same ? before : { fingerprint, since: this.#order });
    }
    this.#buckets = buckets;
    if (changed) for (const look of this.#listeners) look();
  }
}

const NO_ROWS = '';
const bucketOf = (kind: Kind, key: string): string => `${kind} ${key.slice(0, 2)}`;
