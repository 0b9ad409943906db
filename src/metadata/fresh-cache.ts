import { LRUCache } from 'lru-cache';
import type { Clock, EpochMs } from '../domain/time.ts';

/** From this age on an entry is still used, and read anew in the background. */
const REFRESH_MS = 2_000;
/** From this age on an entry is not used: with the look-up's own time, a change shows within 5 s. */
const USABLE_MS = 4_500;
const ABSENT_MS = 1_000;

interface Entry<V> {
  readonly value: V;
  readonly asOf: EpochMs;
}

interface Load<V> {
  readonly asOf: EpochMs;
  readonly result: Promise<V | null>;
}

export interface FreshCacheOptions<V> {
  readonly clock: Clock;
  /** How many values are kept, and as many absences apart from them: junk pushes no value out. */
  readonly max: number;
  /** Null: there is no such thing. */
  readonly load: (key: string) => Promise<V | null>;
}

/** A bounded cache whose answers are at most 4.5 s old, and whose hot keys do not wait for the store. */
export class FreshCache<V extends object> {
  readonly #clock: Clock;
  readonly #read: (key: string) => Promise<V | null>;
  readonly #present: LRUCache<string, Entry<V>>;
  readonly #absent: LRUCache<string, Entry<true>>;
  readonly #loads = new Map<string, Load<V>>();

  constructor({ clock, max, load }: FreshCacheOptions<V>) {
    this.#clock = clock;
    this.#read = load;
    this.#present = new LRUCache({ max });
    this.#absent = new LRUCache({ max });
  }

  /** Rejects with what the load rejects with, once no usable entry is left. */
  async get(key: string): Promise<V | null> {
    const now = this.#clock();
    const entry = this.#present.get(key);
    if (entry !== undefined && isYounger(entry, now, USABLE_MS)) {
      // A failed refresh is not this caller's: the entry serves until it is too old.
      if (!isYounger(entry, now, REFRESH_MS)) this.#load(key, now).catch(() => undefined);
      return entry.value;
    }
    const absent = this.#absent.get(key);
    if (absent !== undefined && isYounger(absent, now, ABSENT_MS)) return null;
    return this.#load(key, now);
  }

  /** The next `get` reads the store; a look-up that is under way is not kept. */
  invalidate(key: string): void {
    this.#present.delete(key);
    this.#absent.delete(key);
    this.#loads.delete(key);
  }

  #load(key: string, now: EpochMs): Promise<V | null> {
    const running = this.#loads.get(key);
    // A look-up that hangs is not joined for ever: what it read may be as old as its start.
    if (running !== undefined && isYounger(running, now, REFRESH_MS)) return running.result;
    const load: Load<V> = { asOf: now, result: this.#read(key) };
    this.#loads.set(key, load);
    return this.#settle(key, load);
  }

  /** Keeps what a look-up brought, unless the key was invalidated or read anew in the meantime. */
  async #settle(key: string, load: Load<V>): Promise<V | null> {
    const isCurrent = (): boolean => this.#loads.get(key) === load;
    try {
      const value = await load.result;
      if (isCurrent()) this.#keep(key, value, load.asOf);
      return value;
    } finally {
      if (isCurrent()) this.#loads.delete(key);
    }
  }

  #keep(key: string, value: V | null, asOf: EpochMs): void {
    if (value === null) {
      this.#present.delete(key);
      this.#absent.set(key, { value: true, asOf });
    } else {
      this.#absent.delete(key);
      this.#present.set(key, { value, asOf });
    }
  }
}

/** A clock that was set back makes no entry younger: it is read anew. */
function isYounger({ asOf }: { readonly asOf: EpochMs }, now: EpochMs, ms: number): boolean {
  const age = now - asOf;
  return age >= 0 && age < ms;
}
