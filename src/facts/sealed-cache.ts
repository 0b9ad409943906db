import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Query } from '../clickhouse/database.ts';

/** Rows of one statement are alike: this many, spread over all of them, are measured to estimate the size. */
const SAMPLE = 64;
/** Estimated overhead of a row and of an entry. */
const ROW_BYTES = 100;
const ENTRY_BYTES = 1_000;
/** Estimated size of a value that is cached by key: a number, or one element of a collection. */
const VALUE_BYTES = 250;
export type CachedValue = number | ReadonlyMap<string, number> | readonly unknown[];

const valuesIn = (cached: CachedValue): number =>
  typeof cached === 'number' ? 1 : 1 + ('size' in cached ? cached.size : cached.length);

const DEFAULT_BYTES = 64 * 1024 ** 2;
/** Limit of the list of statements that were asked once. */
const MOST_SEEN = 10_000;

/**
 * When the rows of a statement are cached. While a poller's range moves, its whole hours stay the same for an
 * hour: cached at once. The edges may move by the millisecond, or never: cached when they are asked for
 * again.
 */
export type Keep = 'at once' | 'when repeated';

/**
 * Cache for the rows of statements that read nothing but sealed data. An entry belongs to a version of the
 * facts (see `Snapshot.facts`) and is never used for another one.
 */
export class SealedCache {
  readonly #cached: LRUCache<string, object> | null;
  readonly #seen = new LRUCache<string, true>({ max: MOST_SEEN });

  /** Holds about `maxBytes` at most; 0 turns the cache off. */
  constructor(maxBytes = DEFAULT_BYTES) {
    this.#cached = maxBytes === 0 ? null : new LRUCache({ maxSize: maxBytes });
  }

  /**
   * Returns the result of `make`, cached or from rows loaded now; always loaded if `version` is null. Callers
   * must not modify it. `load` is told whether its rows are cached because they are asked for again. If
   * `load` rejects, so does this, and nothing is cached.
   */
  async get<Row, Made extends object>(
    { name, sql }: Pick<Query<Row>, 'name' | 'sql'>,
    version: string | null,
    load: (isRepeated: boolean) => Promise<readonly Row[]>,
    make: (rows: readonly Row[]) => Made,
    keep: Keep = 'at once',
  ): Promise<Made> {
    if (version === null || this.#cached === null) return make(await load(false));
    const key = keyOf({ name, sql }, version);
    const cached = this.#cached.get(key);
    if (cached !== undefined) return cached as Made;
    const isRepeated = keep === 'when repeated' && this.#seenBefore(key);
    const rows = await load(isRepeated);
    const made = make(rows);
    if (keep === 'at once' || isRepeated) {
      this.#cached.set(key, made, { size: bytesOf(rows) + key.length + ENTRY_BYTES });
    }
    return made;
  }

  /**
   * Returns values by key, among them one for each of `keys`. `load` gets the keys that are not cached and
   * must return a value for each. Keys of the same `query` share an entry, so the result may hold others too.
   * If `load` rejects, so does this.
   */
  async each<Value extends CachedValue>(
    query: Pick<Query<unknown>, 'name' | 'sql'>,
    version: string | null,
    keys: readonly string[],
    load: (unknown: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
  ): Promise<ReadonlyMap<string, Value>> {
    if (version === null || this.#cached === null) return load(keys);
    const key = keyOf(query, version);
    const known = (this.#cached.get(key) ?? new Map()) as Map<string, Value>;
    const unknown = keys.filter((each) => !known.has(each));
    if (unknown.length > 0) {
      for (const [each, value] of await load(unknown)) known.set(each, value);
      let values = 0;
      for (const value of known.values()) values += valuesIn(value);
      this.#cached.set(key, known, { size: values * VALUE_BYTES + key.length + ENTRY_BYTES });
    }
    return known;
  }

  /**
   * Returns whether this was asked for before, and records that it was asked for now. Always false if nothing
   * can be cached.
   */
  isRepeated(query: Pick<Query<unknown>, 'name' | 'sql'>, version: string | null): boolean {
    if (version === null || this.#cached === null) return false;
    const key = keyOf(query, version);
    return this.#cached.has(key) || this.#seenBefore(key);
  }

  #seenBefore(key: string): boolean {
    const short = createHash('sha1').update(key).digest('base64');
    const seen = this.#seen.has(short);
    this.#seen.set(short, true);
    return seen;
  }

  /** Empties the cache, for measurements. */
  clear(): void {
    this.#cached?.clear();
    this.#seen.clear();
  }
}

/** The name is part of the key: two questions may make different things of the same rows. */
const keyOf = ({ name, sql }: Pick<Query<unknown>, 'name' | 'sql'>, version: string): string =>
  `${name} ${version} ${sql}`;

function bytesOf(rows: readonly unknown[]): number {
  if (rows.length === 0) return 0;
  const step = Math.max(1, Math.floor(rows.length / SAMPLE));
  const sample = Array.from({ length: Math.min(rows.length, SAMPLE) }, (_, i) => rows[i * step]);
  const each = JSON.stringify(sample).length / sample.length;
  return Math.ceil(rows.length * (2 * each + ROW_BYTES));
}
