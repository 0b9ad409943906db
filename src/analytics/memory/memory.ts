import { LRUCache } from 'lru-cache';
import { forOthersToo } from '../../domain/caller.ts';
import type { AppId } from '../../domain/ids.ts';

/** Estimated overhead of an entry, and size of one value in it: a number, a short text or a small row. */
const ENTRY_BYTES = 1_000;
const VALUE_BYTES = 100;
const DEFAULT_BYTES = 64 * 1024 ** 2;

/**
 * The memory of all questions: one cache with one limit, least recently used out first. Everything in it
 * belongs to a version of the data and is never used for another one, so nothing in it is ever wrong.
 */
export class Memory {
  readonly #values: LRUCache<string, object> | null;

  /** Holds about `maxBytes` at most; 0 turns it off. */
  constructor(maxBytes = DEFAULT_BYTES) {
    this.#values = maxBytes === 0 ? null : new LRUCache({ maxSize: maxBytes });
  }

  /** The part of the memory that belongs to `version`; null for one that keeps nothing. */
  of(version: string | null): Cache {
    return version === null || this.#values === null ? new Cache(null, '') : new Cache(this.#values, version);
  }

  /** Drops everything about an app. */
  forget(app: AppId): void {
    for (const key of this.#values?.keys() ?? []) if (key.includes(app)) this.#values?.delete(key);
  }

  /** Empties the memory, for measurements. */
  clear(): void {
    this.#values?.clear();
  }
}

/** A value of the latest version. A promise holds on to the request that made it, so it gives way to its value. */
interface Latest<Value> {
  readonly version: number | string;
  readonly value: Value | Promise<Value>;
}

/** Values by name, and about how many small ones they consist of. Loads that end at the same time add to the same one. */
interface Named<Value> {
  readonly values: Map<string, Value>;
  count: number;
}

/** The cache of one version of the data. Callers must not modify the values that it returns. */
export class Cache {
  readonly #values: LRUCache<string, object> | null;
  readonly #version: string;

  constructor(values: LRUCache<string, object> | null, version: string) {
    this.#values = values;
    this.#version = version;
  }

  /** Returns the value, or undefined. */
  get<Value extends object>(key: string): Value | undefined {
    return this.#values?.get(this.#keyOf(key)) as Value | undefined;
  }

  /** Keeps a value that consists of about `count` small ones. */
  set(key: string, value: object, count: number): void {
    const own = this.#keyOf(key);
    this.#values?.set(own, value, { size: ENTRY_BYTES + own.length + Math.ceil(count) * VALUE_BYTES });
  }

  delete(key: string): void {
    this.#values?.delete(this.#keyOf(key));
  }

  /** Returns the value, kept or loaded now. If `load` rejects, so does this, and nothing is kept. */
  async recall<Value extends object>(
    key: string,
    load: () => Promise<Value>,
    countOf: (value: Value) => number,
  ): Promise<Value> {
    const known = this.get<Value>(key);
    if (known !== undefined) return known;
    const value = await load();
    this.set(key, value, countOf(value));
    return value;
  }

  /**
   * Returns the value at this version of data that changes often, kept or loaded now. Questions about the same version
   * share one reading. The value takes the place of that of another version. `countOf` returns about how many small values
   * it consists of. By default it counts as one entry, however large it is, because every question about the last hours
   * needs it.
   */
  async latest<Value extends object | null>(
    key: string,
    version: number | string,
    load: () => Promise<Value>,
    countOf: (value: Value) => number = () => 0,
  ): Promise<Value> {
    const known = this.get<Latest<Value>>(key);
    if (known?.version === version) return known.value;
    const reading: Latest<Value> = { version, value: forOthersToo(load) };
    this.set(key, reading, 0);
    try {
      const value = await reading.value;
      if (this.get(key) === reading) this.set(key, { version, value }, countOf(value));
      return value;
    } catch (error) {
      if (this.get(key) === reading) this.delete(key);
      throw error;
    }
  }

  /**
   * Returns values by name, among them one for each of `names`. `load` gets the names that are not known, and
   * returns a value for each. All of them are one entry.
   */
  async recallEach<Value>(
    key: string,
    names: readonly string[],
    load: (unknown: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
    countOf: (value: Value) => number,
  ): Promise<ReadonlyMap<string, Value>> {
    const named = this.get<{ named: Named<Value> }>(key)?.named ?? { values: new Map(), count: 0 };
    const { values } = named;
    const unknown = names.filter((name) => !values.has(name));
    if (unknown.length === 0) return values;
    for (const [name, value] of await load(unknown)) {
      if (values.has(name)) continue;
      values.set(name, value);
      named.count += 1 + countOf(value);
    }
    // The cache takes the new size of an entry only with a new object.
    this.set(key, { named }, named.count);
    return values;
  }

  #keyOf = (key: string): string => `${this.#version} ${key}`;
}
