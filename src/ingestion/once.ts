import { LRUCache } from 'lru-cache';
import { AppError } from '../domain/errors.ts';
import type { AssertHeld } from '../domain/locks.ts';
import { DAY_MS } from '../domain/time.ts';
import { traced } from '../domain/work.ts';
import type { Outcome } from './batch-buffer.ts';
import { type BatchKey, batchKey } from './batch-key.ts';
import type { BatchRows } from './journal-rows.ts';
import type { Writers } from './writers.ts';

/** Shorter than the 7 days for which the store remembers a batch. */
const REMEMBERED_MS = 6 * DAY_MS;
const REMEMBERED_BATCHES = 50_000;
/** The longest that a sender waits for the store. Its batch goes on without it. */
const LONGEST_WAIT_MS = 15_000;
/** A sender does not wait for a store that has failed for this long. */
const STALLED_AFTER_MS = 5_000;

/** Guards the writers: of equal batches in this process, only one is underway. */
export class BatchStore {
  readonly #writers: Writers;
  /** An equal batch that comes meanwhile waits for the first one. */
  readonly #underway = new Map<string, Promise<Outcome>>();
  /** Saves queries for the most frequent retries. Batches that are not here are looked up in the store. */
  readonly #recent = new LRUCache<string, true>({ max: REMEMBERED_BATCHES, ttl: REMEMBERED_MS });
  #closed = false;

  constructor(writers: Writers) {
    this.#writers = writers;
  }

  /**
   * Stores the rows of `make`, unless a batch with this key is stored or underway. `make` runs only if needed. Returns what
   * it made; null if the batch is a duplicate. Throws `overloaded` if there is no room, and `store_unavailable` if the store
   * does not take the rows in time. They may be stored all the same. `check`: see `PendingBatch`; a process that is alone on
   * its store does not call it.
   */
  storeOnce<T extends BatchRows>(batch: BatchKey, make: () => T, check?: AssertHeld): Promise<T | null> {
    const attributes = { 'analytics.app_id': batch.app, 'analytics.batch_id': batch.batch };
    return traced('batch', { attributes }, () => this.#storeOnce(batch, make, check));
  }

  async #storeOnce<T extends BatchRows>(batch: BatchKey, make: () => T, check?: AssertHeld) {
    const key = batchKey(batch);
    for (let first = this.#underway.get(key); first !== undefined; first = this.#underway.get(key)) {
      if (await this.#succeeds(key, first)) return null;
    }
    if (this.#recent.has(key)) return null;
    const { turns, persistence } = this.#writers.of(batch.app);
    if (this.#closed || persistence.failingForMs > STALLED_AFTER_MS) throw unavailable();
    const made = make();
    const { events, hours, rows } = made;
    const bytes = rows.reduce((sum, row) => sum + row.length, 0);
    if (!this.#writers.haveRoom({ app: batch.app, events, bytes })) throw overloaded();
    const storing = turns.submit({ ...batch, events, hours, rows, bytes, check });
    this.#underway.set(key, storing);
    storing.then(
      () => {
        this.#recent.set(key, true);
        this.#underway.delete(key);
      },
      () => this.#underway.delete(key),
    );
    return (await withinPatience(storing)) === 'stored' ? made : null;
  }

  /** Resolves when the batch is not underway, however it ended. */
  async settled(batch: BatchKey): Promise<void> {
    await this.#underway.get(batchKey(batch))?.catch(() => undefined);
  }

  /** Refuses new batches. */
  close(): void {
    this.#closed = true;
  }

  /** False if the first batch failed for good. The next one then tries itself. */
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
  new AppError('store_unavailable', 'The store does not accept events now. Send the batch again.', {
    retryAfterSeconds: 5,
  });

const overloaded = (): AppError =>
  new AppError('overloaded', 'Too many events wait to be stored. Send the batch again.', {
    retryAfterSeconds: 5,
  });

/**
 * Resolves like `work`, or rejects with `store_unavailable` if it takes too long. The work goes on all the
 * same.
 */
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
