import type { AppError } from '../domain/errors.ts';
import type { AssertHeld } from '../domain/locks.ts';
import type { Work } from '../domain/work.ts';
import type { BatchKey } from './batch-key.ts';
import type { BatchRows } from './journal-rows.ts';
import type { Suspects } from './suspects.ts';

/** A batch to store, with its rows in the form in which they are sent. */
export interface PendingBatch extends BatchKey, BatchRows {
  /** The length of all rows together. */
  readonly bytes: number;
  /** Rejects if the batch must not be stored after all. Called when it is claimed, and nothing of it is stored yet. */
  readonly check?: AssertHeld | undefined;
}

export type Outcome = 'stored' | 'duplicate';

/** A batch whose sender waits. */
export interface Waiting extends PendingBatch {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
  /** The request that waits. */
  readonly work: Work | undefined;
  /** How often another process was found storing the same batch. */
  conflicts: number;
}

/** The size of a buffer. Bytes are counted as characters. */
export interface Size {
  readonly batches: number;
  readonly events: number;
  readonly bytes: number;
}

const NOTHING: Size = { batches: 0, events: 0, bytes: 0 };

/** Limits that keep an insert one block: far below the engine's 1,048,449 rows and 256 MiB. */
const MAX_FLUSH = { batches: 1_000, events: 40_000, bytes: 8 * 1024 ** 2 } as const;
const LONGEST_CONFLICT_PAUSE_MS = 2_000;
/** The share of the peak that is left after each flush when the load is over. */
const FORGETTING = 0.9;

/** The batches whose senders wait, those of the running flushes included. */
export class BatchBuffer {
  /** Called when a batch may be taken. */
  readonly #onReady: () => void;
  readonly #suspects: Pick<Suspects, 'has' | 'isUnsure'>;
  /** Those that no flush has taken yet. */
  #queue: Waiting[] = [];
  /** Those of apps whose batches go in flushes of their own. */
  #apart: Waiting[] = [];
  /** Batches of apps that are kept back, by app. */
  readonly #keptBack = new Map<string, Waiting[]>();
  readonly #outcomes = new Set<Promise<Outcome>>();
  readonly #size = { ...NOTHING };
  readonly #sizeByApp = new Map<string, { batches: number; events: number; bytes: number }>();
  #peak = 0;

  /** `suspects`: their batches go in flushes of their own. */
  constructor(onReady: () => void, suspects: Pick<Suspects, 'has' | 'isUnsure'>) {
    this.#onReady = onReady;
    this.#suspects = suspects;
  }

  /** The content, including batches that a flush has taken and not settled. */
  get size(): Size {
    return { ...this.#size };
  }

  /** The part of it that belongs to the app. */
  sizeOf(app: string): Size {
    return { ...(this.#sizeByApp.get(app) ?? NOTHING) };
  }

  /** The number of batches that can be taken. */
  get ready(): number {
    return this.#queue.length;
  }

  /** The number of batches that go in flushes of their own. */
  get readyApart(): number {
    return this.#apart.length;
  }

  /** The highest number of batches in it lately. */
  get peak(): number {
    return this.#peak;
  }

  /** Resolves or rejects as a flush settles the batch. The same batch must not wait twice. */
  add(batch: PendingBatch, work: Work | undefined): Promise<Outcome> {
    this.#count(batch, 1);
    this.#peak = Math.max(this.#peak, this.#size.batches);
    const outcome = new Promise<Outcome>((resolve, reject) => {
      this.#enqueue({ ...batch, resolve, reject, work, conflicts: 0 });
    }).finally(() => {
      this.#outcomes.delete(outcome);
      this.#count(batch, -1);
    });
    this.#outcomes.add(outcome);
    return outcome;
  }

  /** Resolves when every batch is settled. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#outcomes);
  }

  /** Takes the batches of the next flush, in the order in which they came. There are none if all of them go apart. */
  take(): Waiting[] {
    this.#peak = Math.max(this.#size.batches, this.#peak * FORGETTING);
    const usual: Waiting[] = [];
    for (const batch of this.#queue) (this.#suspects.has(batch.app) ? this.#apart : usual).push(batch);
    this.#queue = usual;
    return this.#takeOf(this.#queue);
  }

  /** Takes those of the next flush of their own: first those of one app that may be innocent, which are stored soonest. */
  takeApart(): Waiting[] {
    const one = this.#apart.find(({ app }) => this.#suspects.isUnsure(app))?.app;
    if (one === undefined) return this.#takeOf(this.#apart);
    const own = this.#apart.filter(({ app }) => app === one);
    const taken = this.#takeOf(own);
    this.#apart = [...own, ...this.#apart.filter(({ app }) => app !== one)];
    return taken;
  }

  #takeOf(queue: Waiting[]): Waiting[] {
    let [batches, events, bytes] = [0, 0, 0];
    for (const batch of queue) {
      events += batch.events;
      bytes += batch.bytes;
      const full = batches === MAX_FLUSH.batches || events > MAX_FLUSH.events || bytes > MAX_FLUSH.bytes;
      // A batch with a conflict goes alone, so that its next conflict delays no other batch.
      const alone = batch.conflicts > 0;
      if (batches > 0 && (full || alone)) break;
      batches++;
      if (alone) break;
    }
    return queue.splice(0, batches);
  }

  /** Puts batches back that were taken and are free again. They come first. */
  putBack(group: readonly Waiting[]): void {
    const free = group.filter((batch) => {
      const keptBack = this.#keptBack.get(batch.app);
      keptBack?.push(batch);
      return keptBack === undefined;
    });
    this.#queue = [...free, ...this.#queue];
  }

  /** Puts a batch back once the other process has had time to store it, or to be found dead. */
  park(batch: Waiting): void {
    batch.conflicts++;
    const longest = Math.min(LONGEST_CONFLICT_PAUSE_MS, 25 * 2 ** batch.conflicts);
    setTimeout(() => this.#enqueue(batch), Math.random() * longest);
  }

  /** Keeps back an app's batches until the result is called. */
  keepBack(app: string): () => void {
    const waiting = [...this.#apart, ...this.#queue].filter((batch) => batch.app === app);
    this.#apart = this.#apart.filter((batch) => batch.app !== app);
    this.#queue = this.#queue.filter((batch) => batch.app !== app);
    this.#keptBack.set(app, waiting);
    return () => {
      this.#keptBack.delete(app);
      for (const batch of waiting) this.#enqueue(batch);
    };
  }

  /** Rejects all batches that no flush has taken. */
  dismiss(error: AppError): void {
    const keptBack = [...this.#keptBack.values()].flatMap((batches) => batches.splice(0));
    for (const batch of [...this.#queue.splice(0), ...this.#apart.splice(0), ...keptBack])
      batch.reject(error);
  }

  #count({ app, events, bytes }: PendingBatch, sign: 1 | -1): void {
    const own = this.#sizeByApp.get(app) ?? { ...NOTHING };
    this.#sizeByApp.set(app, own);
    for (const size of [this.#size, own]) {
      size.batches += sign;
      size.events += sign * events;
      size.bytes += sign * bytes;
    }
    if (own.batches === 0) this.#sizeByApp.delete(app);
  }

  #enqueue(batch: Waiting): void {
    const keptBack = this.#keptBack.get(batch.app);
    if (keptBack !== undefined) {
      keptBack.push(batch);
      return;
    }
    this.#queue.push(batch);
    this.#onReady();
  }
}
