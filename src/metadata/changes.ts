import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';

const LOOK_MS = 2_000;
/** What was used within this time is looked after: a poll every minute, and some that are late. */
export const IN_USE_MS = 300_000;

/** Milliseconds since some moment: no clock, it never steps. */
export type Elapsed = () => number;

/** What is remembered apart from each other. */
export type Kind = 'account' | 'key' | 'app' | 'share';

/** Where a read of the store stands among other reads. */
export interface Reading {
  readonly order: number;
  readonly at: number;
}

/** What this process knows of changes in the store. */
export interface Changes {
  /** To be called before the store is read. */
  reading(): Reading;
  /** Something that was read is used: changes of it are looked for from now on, for some minutes. */
  used(): void;
  /** Until when it is known that nothing has changed what was read; at least until it was read. */
  knownAt(kind: Kind, key: string, reading: Reading): number;
  /** Whether something like it has changed since: to be read anew before somebody waits for it. */
  isOutdated(kind: Kind, key: string, reading: Reading): boolean;
  /** `look` is called when something has changed. */
  onChange(look: () => void): void;
  close(): Promise<void>;
}

export const changesIn = (db: Database, elapsed: Elapsed): Changes =>
  db.exclusive ? new OwnChanges(elapsed) : new SeenChanges(db, elapsed);

/** Where nobody else writes: whoever writes here forgets what it was, and the rest is as it was. */
class OwnChanges implements Changes {
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

const statesOf = (table: string, key: string, ...more: string[]): string =>
  `SELECT ${key} AS key, cityHash64('${table}', ${[key, ...more].join(', ')}, version) AS state FROM ${table} FINAL`;
const fingerprintsOf = (kind: Kind, ...states: string[]): string =>
  `SELECT '${kind}', substring(toString(key), 1, 2) AS bucket, toString(sum(state))
FROM (${states.join(' UNION ALL ')})
GROUP BY bucket`;

/** One number for all rows whose keys begin with the same two characters: another as soon as one of them is written. */
const FINGERPRINTS: Query<readonly [Kind, string, string]> = {
  name: 'fingerprints of metadata',
  sql: [
    fingerprintsOf('account', statesOf('accounts', 'account_id')),
    fingerprintsOf('key', statesOf('api_keys', 'key_hash')),
    fingerprintsOf(
      'app',
      statesOf('apps', 'app_id'),
      statesOf('app_secrets', 'app_id', 'secret_hash'),
      statesOf('deleted_apps', 'app_id'),
    ),
    fingerprintsOf('share', statesOf('app_shares', 'app_id', 'account_id')),
  ].join('\nUNION ALL\n'),
  row: z.tuple([z.enum(['account', 'key', 'app', 'share']), z.string(), z.string()]),
};

interface Bucket {
  readonly fingerprint: string;
  /** The end of the look that saw this fingerprint first: what was read later is of this state, or of a newer one. */
  readonly since: number;
}

/**
 * Looks at the store every 2 s while something is used. A version of a row never comes back, so two looks that saw the same
 * fingerprint mean that nothing was written between: all that was read after the first is known until the second began.
 */
class SeenChanges implements Changes {
  readonly #db: Database;
  readonly #elapsed: Elapsed;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners: (() => void)[] = [];
  #order = 0;
  #usedAt = Number.NEGATIVE_INFINITY;
  #buckets: ReadonlyMap<string, Bucket> = new Map();
  /** When the last look that was answered began. */
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
      // Nothing is known then: what is remembered lapses, and who asks hears from the store itself.
    } finally {
      this.#looking = undefined;
    }
  }

  #take(rows: readonly (readonly [Kind, string, string])[]): void {
    this.#order++;
    let changed = false;
    const buckets = new Map<string, Bucket>();
    for (const [kind, start, fingerprint] of rows) {
      const name = bucketOf(kind, start);
      const before = this.#buckets.get(name);
      const same = before?.fingerprint === fingerprint;
      changed ||= !same;
      buckets.set(name, same ? before : { fingerprint, since: this.#order });
    }
    this.#buckets = buckets;
    if (changed) for (const look of this.#listeners) look();
  }
}

const bucketOf = (kind: Kind, key: string): string => `${kind} ${key.slice(0, 2)}`;
