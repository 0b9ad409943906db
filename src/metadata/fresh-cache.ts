import { LRUCache } from 'lru-cache';
import { type Changes, IN_USE_MS, type Kind, type Reading } from './changes.ts';

/**
 * From this age on an entry is still used, but refreshed in the background, because the look for changes is
 * late.
 */
const REFRESH_MS = 3_000;
/** From this age on an entry is not used. With the look-up's own time, a change shows within 5 s. */
const USABLE_MS = 4_500;
const ABSENT_MS = 1_000;

interface Entry<V> {
  readonly value: V;
  readonly reading: Reading;
  usedAt: number;
}

interface Load<V> {
  readonly reading: Reading;
  readonly result: Promise<V | null>;
}

export interface FreshCacheOptions<V> {
  readonly kind: Kind;
  readonly changes: Changes;
  /** The capacity for values, and separately for absences, so that look-ups of junk evict no value. */
  readonly max: number;
  /** Resolves to null if there is no such thing. */
  readonly load: (key: string) => Promise<V | null>;
}

/**
 * A bounded cache. Its values are at most 4.5 s behind the store. An entry stays valid while the store is
 * seen to be unchanged. If the store cannot be seen, the entry expires.
 */
export class FreshCache<V extends object> {
  readonly #kind: Kind;
  readonly #changes: Changes;
  readonly #read: (key: string) => Promise<V | null>;
  readonly #present: LRUCache<string, Entry<V>>;
  readonly #absent: LRUCache<string, Reading>;
  readonly #loads = new Map<string, Load<V>>();

  constructor({ kind, changes, max, load }: FreshCacheOptions<V>) {
    this.#kind = kind;
    this.#changes = changes;
    this.#read = load;
    this.#present = new LRUCache({ max });
    this.#absent = new LRUCache({ max });
    changes.onChange(() => this.#readAnew());
  }

  /** Rejects like the load, if no usable entry is left. */
  async get(key: string): Promise<V | null> {
    this.#changes.used();
    const reading = this.#changes.reading();
    const entry = this.#present.get(key);
    if (entry !== undefined) {
      entry.usedAt = reading.at;
      const age = reading.at - this.#changes.knownAt(this.#kind, key, entry.reading);
      if (age >= REFRESH_MS && age < USABLE_MS) this.#refresh(key, reading);
      if (age < USABLE_MS) return entry.value;
    }
    const absent = this.#absent.get(key);
    if (absent !== undefined && reading.at - absent.at < ABSENT_MS) return null;
    return this.#load(key, reading);
  }

  /** Makes the next `get` read the store. The result of a running look-up is not cached. */
  invalidate(key: string): void {
    this.#present.delete(key);
    this.#absent.delete(key);
    this.#loads.delete(key);
  }

  /** Refreshes entries that have changed and are in use, before a caller waits for them. */
  #readAnew(): void {
    const now = this.#changes.reading();
    for (const [key, { reading, usedAt }] of this.#present.entries()) {
      if (now.at - usedAt < IN_USE_MS && this.#isOutdated(key, reading)) this.#refresh(key, now);
    }
    for (const [key, { reading }] of this.#loads) {
      if (this.#isOutdated(key, reading)) this.#refresh(key, now);
    }
  }

  #isOutdated(key: string, reading: Reading): boolean {
    return this.#changes.isOutdated(this.#kind, key, reading);
  }

  /** Ignores a failure: the entry serves until it is too old. */
  #refresh(key: string, reading: Reading): void {
    this.#load(key, reading).catch(() => undefined);
  }

  #load(key: string, reading: Reading): Promise<V | null> {
    const running = this.#loads.get(key);
    // A look-up's result may be as old as its start. Hence one that hangs, or began before a change, is not
    // joined.
    const isYoung = running !== undefined && reading.at - running.reading.at < REFRESH_MS;
    if (isYoung && !this.#isOutdated(key, running.reading)) return running.result;
    const load: Load<V> = { reading, result: this.#read(key) };
    this.#loads.set(key, load);
    return this.#settle(key, load);
  }

  /** Caches the result, unless the key was invalidated or loaded again meanwhile. */
  async #settle(key: string, load: Load<V>): Promise<V | null> {
    const isCurrent = (): boolean => this.#loads.get(key) === load;
    try {
      const value = await load.result;
      if (isCurrent()) this.#keep(key, value, load.reading);
      return value;
    } finally {
      if (isCurrent()) this.#loads.delete(key);
    }
  }

  #keep(key: string, value: V | null, reading: Reading): void {
    if (value === null) {
      this.#present.delete(key);
      this.#absent.set(key, reading);
    } else {
      this.#absent.delete(key);
      const usedAt = this.#present.peek(key)?.usedAt ?? reading.at;
      this.#present.set(key, { value, reading, usedAt });
    }
  }
}
