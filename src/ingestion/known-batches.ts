import { DAY_MS } from '../domain/time.ts';
import type { BatchKey } from './batch-key.ts';

/** 16 MiB. Of two million batches it takes one in a hundred thousand to be known that is not; of twenty, one in 25. */
const BITS = 2 ** 27;
/** More are not read at the start: they would take seconds, and fill the filter. */
const MOST_LOADED = 5_000_000;
/** Some 10 ms of this thread: whoever else waits for it must not notice. */
const PAGE = 10_000;
/** Longer than the 7 days for which a batch is remembered. */
const GENERATION_MS = 8 * DAY_MS;

/** Stored batches after `last`, in their order, at most `limit`. */
export type ReadBatches = (last: BatchKey | null, limit: number) => Promise<readonly BatchKey[]>;

/**
 * Which batches may be stored, without asking the store: a Bloom filter of all that this process has stored, and, once they are
 * read, of those before it. What it does not hold is not stored. For a store with no other writer.
 */
export class KnownBatches {
  readonly #now: () => number;
  #bits = new Uint32Array(BITS / 32);
  /** Of the generation before: still remembered. */
  #older: Uint32Array | null = null;
  #begun: number;
  #isComplete = false;
  #closed = false;

  /** `now`: milliseconds of a clock that nobody sets. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#begun = now();
  }

  /** Adds what was stored before this process. Until it resolves, every batch may be stored. Rejects as `read` does. */
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

  /** False: it is certainly not stored. */
  mayHold(batch: BatchKey): boolean {
    if (!this.#isComplete) return true;
    const places = placesOf(batch);
    return holds(this.#bits, places) || (this.#older !== null && holds(this.#older, places));
  }

  /** To be called before the batch is stored. */
  add(batch: BatchKey): void {
    if (this.#now() - this.#begun > GENERATION_MS) {
      // What was stored before this process is forgotten by the store as well.
      this.#isComplete = true;
      this.#older = this.#bits;
      this.#bits = new Uint32Array(BITS / 32);
      this.#begun = this.#now();
    }
    for (const place of placesOf(batch)) {
      this.#bits[place >>> 5] = (this.#bits[place >>> 5] ?? 0) | (1 << (place & 31));
    }
  }

  /** Ends a load that is under way. */
  close(): void {
    this.#closed = true;
  }
}

/** Ids are random already: pieces of the batch's own, mixed with the app's. Whoever sends others costs himself a look-up. */
function placesOf({ app, batch }: BatchKey): number[] {
  const first = hex(batch, 0) ^ hex(app, 0);
  const step = (hex(batch, 24) ^ hex(app, 24)) | 1;
  return [0, 1, 2, 3].map((i) => ((first + Math.imul(i, step)) >>> 0) % BITS);
}

const hex = (uuid: string, from: number): number => Number.parseInt(uuid.slice(from, from + 8), 16);

const holds = (bits: Uint32Array, places: readonly number[]): boolean =>
  places.every((place) => ((bits[place >>> 5] ?? 0) & (1 << (place & 31))) !== 0);
