import { LRUCache } from 'lru-cache';
import { AppError } from '../domain/errors.ts';
import { DAY_MS } from '../domain/time.ts';
import { type BatchKey, batchKey } from './batch-key.ts';
import type { Flusher, Outcome } from './flusher.ts';
import type { BatchRows } from './journal-rows.ts';
import type { Persistence } from './retry.ts';

/** Shorter than the 7 days for which the store remembers a batch. */
const REMEMBERED_MS = 6 * DAY_MS;
const REMEMBERED_BATCHES = 50_000;
/** A sender waits this long for the store; its batch goes on without it. */
const LONGEST_WAIT_MS = 15_000;
/** A store that has failed for this long is not worth waiting for. */
const STALLED_AFTER_MS = 5_000;

/** The doorkeeper of the flusher: of equal batches in this process only one is on its way. */
export class BatchStore {
  readonly #flusher: Flusher;
  readonly #persistence: Persistence;
  /** An equal batch that comes meanwhile waits for the first. */
  readonly #underway = new Map<string, Promise<Outcome>>();
  /** Spares the store the most frequent retries; what is not here is looked up there. */
  readonly #recent = new LRUCache<string, true>({ max: REMEMBERED_BATCHES, ttl: REMEMBERED_MS });
  #closed = false;

  constructor(flusher: Flusher, persistence: Persistence) {
    this.#flusher = flusher;
    this.#persistence = persistence;
  }

  /**
   * Stores what `make` gives, unless a batch with this key is stored or on its way; `make` runs only when it is needed.
   * Throws `overloaded` when there is no room, `store_unavailable` when the store does
   * not take them in time: they may be stored all the same.
   */
  async storeOnce(batch: BatchKey, make: () => BatchRows): Promise<Outcome> {
    const key = batchKey(batch);
    for (let first = this.#underway.get(key); first !== undefined; first = this.#underway.get(key)) {
      if (await this.#succeeds(key, first)) return 'duplicate';
    }
    if (this.#recent.has(key)) return 'duplicate';
    if (this.#closed || this.#persistence.failingForMs > STALLED_AFTER_MS) throw unavailable();
    const made = make();
    const { events, rows } = made;
    const bytes = rows.reduce((sum, row) => sum + row.length, 0);
    if (!this.#flusher.hasRoom(events, bytes)) throw overloaded();
    const storing = this.#flusher.submit({ ...batch, ...made, bytes });
    this.#underway.set(key, storing);
    storing.then(
      () => {
        this.#recent.set(key, true);
        this.#underway.delete(key);
      },
      () => this.#underway.delete(key),
    );
    return withinPatience(storing);
  }

  /** Refuses new batches. */
  close(): void {
    this.#closed = true;
  }

  /** False when the first of them failed for good: then the next one tries itself. */
  async #succeeds(key: string, first: Promise<Outcome>): Promise<boolean> {
    try {
      await withinPatience(first);
      return true;
    } catch (error) {
      if (this.#underway.get(key) === first) throw error;
      return false;
    }
  }
}

export const unavailable = (): AppError =>
  new AppError('store_unavailable', 'The store does not take events. Send the batch again.', {
    retryAfterSeconds: 5,
  });

const overloaded = (): AppError =>
  new AppError('overloaded', 'Too many events wait to be stored. Send the batch again.', {
    retryAfterSeconds: 5,
  });

/** `work`, or `store_unavailable` when it takes too long; it goes on all the same. */
async function withinPatience<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const impatience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable()), LONGEST_WAIT_MS);
  });
  try {
    return await Promise.race([work, impatience]);
  } finally {
    clearTimeout(timer);
  }
}
