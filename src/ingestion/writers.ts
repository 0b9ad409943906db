import type { Database } from '../clickhouse/database.ts';
import type { AppError } from '../domain/errors.ts';
import type { Size } from './batch-buffer.ts';
import type { BatchKey } from './batch-key.ts';
import { Flusher, type StoredFlush } from './flusher.ts';
import { HeldFlushes } from './held-flushes.ts';
import type { Journal } from './journal.ts';
import type { KnownBatches } from './known-batches.ts';
import { type IngestLog, Persistence } from './retry.ts';
import type { SetAside } from './set-aside.ts';
import { Settler } from './settler.ts';
import { Suspects } from './suspects.ts';
import { Turns } from './turns.ts';

/** The size of all buffers, including flushes in progress. A text holds one or two bytes per character. */
const MOST: Size = { batches: 50_000, events: 200_000, bytes: 64 * 1024 ** 2 };
/** The share of it that one of several shards may take, so that others have room while it is away. */
const SHARE = 0.5;

/** The share that one app may take, so that a flood of its events leaves room for others. */
const SHARE_OF_APP = 0.75;

/** Stores the batches of one shard's apps. */
interface Writer {
  readonly turns: Turns;
  readonly flusher: Flusher;
  readonly held: HeldFlushes;
  readonly settler: Settler;
  readonly persistence: Persistence;
}

export interface WritersOptions {
  readonly db: Database;
  readonly journal: Journal;
  readonly setAside: SetAside;
  readonly known: KnownBatches | null;
  readonly log: IngestLog;
  readonly onFlush?: (flush: StoredFlush) => void;
}

/**
 * One writer for each shard; a store that is no cluster is one shard. A flush is on one shard, so it is stored or
 * refused there as a whole, and while a shard is away, only the batches of its own apps wait.
 */
export class Writers {
  readonly #options: WritersOptions;
  readonly #byShard = new Map<number, Writer>();

  constructor(options: WritersOptions) {
    this.#options = options;
    for (let shard = 0; shard < options.db.shards.count; shard++) this.#on(shard);
  }

  /** Returns the writer of an app. It may be on a shard that was added after this process started. */
  of(app: string): Writer {
    return this.#on(this.#options.db.shards.of(app));
  }

  /** The content of all buffers. */
  get size(): Size {
    return this.#all.reduce((sum, { turns }) => added(sum, turns.size), NOTHING);
  }

  /** The number of batches in flushes that are held. */
  get heldBatches(): number {
    return this.#all.flatMap(({ held }) => held.all).reduce((sum, { batches }) => sum + batches.size, 0);
  }

  /** True while inserts may be repeated that were first sent a while ago. */
  get areRepeating(): boolean {
    return this.heldBatches > 0 || this.#all.some(({ persistence }) => persistence.isRepeating);
  }

  /** True if there is room for a batch of this size. */
  haveRoom({ app, events, bytes }: { app: string; events: number; bytes: number }): boolean {
    const batch = { batches: 1, events, bytes };
    const share = this.#all.length === 1 ? 1 : SHARE;
    const { turns } = this.of(app);
    return (
      fits(added(this.size, batch), 1) &&
      fits(added(turns.size, batch), share) &&
      fits(added(turns.sizeOf(app), batch), share * SHARE_OF_APP)
    );
  }

  /** Settles flushes that a crash left behind. Call it before the first batch. */
  start(): Promise<void> {
    return this.#each(({ settler }) => settler.start());
  }

  /** Retries flushes that are held or were left behind. */
  sweep(): Promise<void> {
    return this.#each(({ settler }) => settler.sweep());
  }

  /** Resolves when every stored flush is marked. */
  markAll(): Promise<void> {
    return this.#each(({ flusher }) => flusher.marks.all());
  }

  /** Begins no flush until `resume`. */
  pause(): void {
    for (const { turns } of this.#all) turns.pause();
  }

  resume(): void {
    for (const { turns } of this.#all) turns.resume();
  }

  /** True while a flush runs. */
  get areStoring(): boolean {
    return this.#all.some(({ turns }) => turns.isStoring);
  }

  /** Resolves when every batch is settled and marked. */
  idle(): Promise<void> {
    return this.#each(async ({ turns, flusher }) => {
      await turns.idle();
      await flusher.marks.all();
    });
  }

  /** Ends all waiting. Batches that wait for their flush are rejected. */
  stop(error: AppError): void {
    for (const { persistence, turns } of this.#all) {
      persistence.stop();
      turns.dismiss(error);
    }
  }

  get #all(): Writer[] {
    return [...this.#byShard.values()];
  }

  #on(shard: number): Writer {
    const known = this.#byShard.get(shard) ?? writerOf(shard, this.#options);
    this.#byShard.set(shard, known);
    return known;
  }

  async #each(work: (writer: Writer) => Promise<void>): Promise<void> {
    await Promise.all(this.#all.map(work));
  }
}

function writerOf(shard: number, options: WritersOptions): Writer {
  const { db, log, known } = options;
  const isAlone = known !== null;
  const persistence = new Persistence(log);
  const suspects = new Suspects();
  const held = new HeldFlushes(suspects, log);
  const flusher = new Flusher({ ...options, persistence, held, underway: db.own.underway });
  const isMine = ({ app }: BatchKey): boolean => db.shards.of(app) === shard;
  const settler = new Settler({ ...options, flusher, persistence, held, isMine, isAlone });
  const turns = new Turns({ ...options, flusher, persistence, suspects, isAlone });
  return { turns, flusher, held, settler, persistence };
}

const NOTHING: Size = { batches: 0, events: 0, bytes: 0 };

const added = (one: Size, other: Size): Size => ({
  batches: one.batches + other.batches,
  events: one.events + other.events,
  bytes: one.bytes + other.bytes,
});

const fits = ({ batches, events, bytes }: Size, share: number): boolean =>
  batches <= MOST.batches * share && events <= MOST.events * share && bytes <= MOST.bytes * share;
