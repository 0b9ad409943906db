import { DAY_MS } from '../domain/time.ts';
import type { BatchKey } from './batch-key.ts';

/**
 * 16 MiB. With two million batches, one unknown batch in a hundred thousand seems known; with twenty million,
 * one in 25.
 */
const BITS = 2 ** 27;
/** The most batches that are read at the start. More would take seconds and fill the filter. */
const MOST_LOADED = 5_000_000;
/** Takes about 10 ms of the event loop, so that a page does not delay requests noticeably. */
const PAGE = 10_000;
/** Longer than the 7 days for which the store remembers a batch. */
const GENERATION_MS = 8 * DAY_MS;

/** Returns stored batches after `last`, in the store's order, at most `limit`. */
export type ReadBatches = (last: BatchKey | null, limit: number) => Promise<readonly BatchKey[]>;

/**
 * Tells which batches may be stored, without a query. A Bloom filter of all batches that this process has
 * stored and, once they are loaded, of earlier ones. A batch that is not in the filter is not stored. Only
 * for a store without another writer.
 */
export class KnownBatches {
  readonly #now: () => number;
  #bits = new Uint32Array(BITS / 32);
  /** The filter of the generation before: its batches are still remembered. */
  #older: Uint32Array | null = null;
  #begun: number;
  #isComplete = false;
  #closed = false;

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#begun = now();
  }

  /**
   * Adds the batches from before this process. Until it resolves, every batch may be stored. Rejects like
   * `read`.
   */
  async load(read: ReadBatches): Promise<void> {
    let last: BatchKey | null = null;
    for (let loaded = 0; loaded < MOST_LOADED && !this.#closed; ) {
      const page: readonly BatchKey[] = await read(last, PAGE);
      for (const batch of page) this.add(batch);
      if (page.length < PAGE) {
        this.#isComplete = true;
        return;
      }
      loaded += page.length;
      last = page.at(-1) ?? null;
    }
  }

  /** False if the batch is certainly not stored. */
  mayHold(batch: BatchKey): boolean {
    if (!this.#isComplete) return true;
    const places = placesOf(batch);
    return holds(this.#bits, places) || (this.#older !== null && holds(this.#older, places));
  }

  /** Adds a batch. Call it before the batch is stored. */
  add(batch: BatchKey): void {
    if (this.#now() - this.#begun > GENERATION_MS) {
      // The store, too, has forgotten the batches from before this process.
      this.#isComplete = true;
      this.#older = this.#bits;
      this.#bits = new Uint32Array(BITS / 32);
      this.#begun = this.#now();
    }
    for (const place of placesOf(batch)) {
      this.#bits[place >>> 5] = (this.#bits[place >>> 5] ?? 0) | (1 << (place & 31));
    }
  }

  /** Ends a load that is still running. */
  close(): void {
    this.#closed = true;
  }
}

/**
 * Returns the batch's bits: parts of its id mixed with the app's, as ids are random already. Ids that are not
 * random only cost their sender a look-up.
 */
function placesOf({ app, batch }: BatchKey): number[] {
  const first = hex(batch, 0) ^ hex(app, 0);
  const step = (hex(batch, 24) ^ hex(app, 24)) | 1;
  return [0, 1, 2, 3].map((i) => ((first + Math.imul(i, step)) >>> 0) % BITS);
}

const hex = (uuid: string, from: number): number => Number.parseInt(uuid.slice(from, from + 8), 16);

const holds = (bits: Uint32Array, places: readonly number[]): boolean =>
  places.every((place) => ((bits[place >>> 5] ?? 0) & (1 << (place & 31))) !== 0);
