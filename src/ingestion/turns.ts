import type { AppError } from '../domain/errors.ts';
import { currentWork, inWork, Work } from '../domain/work.ts';
import { BatchBuffer, type Outcome, type PendingBatch, type Size, type Waiting } from './batch-buffer.ts';
import type { Flusher, Turn } from './flusher.ts';
import { notNow, partsOf, putAside, rejectAll } from './refused-batches.ts';
import { type IngestLog, type Persistence, Refused } from './retry.ts';
import type { SetAside } from './set-aside.ts';
import type { Suspects } from './suspects.ts';

/**
 * While one flush waits for the disk, another is written to the journal. More flushes would only be smaller
 * ones. A flush no longer counts once its events are inserted.
 */
const FLUSHES_AT_ONCE = 2;

export interface TurnsOptions {
  readonly flusher: Flusher;
  readonly persistence: Persistence;
  readonly suspects: Suspects;
  readonly setAside: SetAside;
  readonly log: IngestLog;
  /** True if no other process is on the store. Otherwise flushes run one after the other. */
  readonly isAlone: boolean;
}

/** Returns a function that runs `work` at its first call only. */
function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}

/** The work of a flush. In a trace it is a part of its first batch, and is linked with the others. */
function workOf(group: readonly Waiting[]): Work {
  const [first, ...others] = group.flatMap(({ work }) => work?.span ?? []);
  if (first === undefined) return new Work();
  const span = first.child('flush', { attributes: { 'analytics.batches': group.length }, links: others });
  for (const other of others) other.link(span);
  return new Work(null, span);
}

/**
 * Decides which waiting batches of one shard's apps are stored together, and when. One flush runs at a time. Two run if no
 * other process is on the store; no batch is in both.
 *
 * If the store refuses a step of a flush because of its content, the next flush begins at once. The refused one is split,
 * and a batch that is refused alone is put aside. A flush is never split if one of its rows may be stored. For some minutes
 * the apps of the reasons are stored apart, by one flush at a time beside the others (suspects.ts). If the reasons are
 * unknown, each app of the flush is stored alone, until that has succeeded once.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #buffer: BatchBuffer;
  /** The flushes that run. */
  readonly #flushes = new Set<Work>();
  /** Flushes until they have ended. */
  readonly #runs = new Set<Promise<void>>();
  #running = 0;
  /** True while a flush of suspected apps runs. */
  #runsApart = false;
  #isPaused = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#buffer = new BatchBuffer(() => this.#wake(), options.suspects);
  }

  /** The content of the buffer, including the flush in progress. */
  get size(): Size {
    return this.#buffer.size;
  }

  /** The part of it that belongs to the app. */
  sizeOf(app: string): Size {
    return this.#buffer.sizeOf(app);
  }

  /** Resolves when the batch is stored and visible, or was so before. The same batch must not wait twice. */
  submit(batch: PendingBatch): Promise<Outcome> {
    const work = currentWork();
    for (const flush of this.#flushes) work?.waitFor(flush);
    return this.#buffer.add(batch, work);
  }

  /** Resolves when every submitted batch is settled. */
  idle(): Promise<void> {
    return this.#buffer.idle();
  }

  /**
   * Keeps back an app's batches until the result is called. Resolves when this process stores none of them. Only one caller
   * at a time may keep back an app.
   */
  async keepBack(app: string): Promise<() => void> {
    const release = this.#buffer.keepBack(app);
    await Promise.all(this.#runs);
    return release;
  }

  /** Rejects all batches that wait for their flush. */
  dismiss(error: AppError): void {
    this.#buffer.dismiss(error);
  }

  /** Begins no flush until `resume`. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#wake();
  }

  /** True while a flush runs. */
  get isStoring(): boolean {
    return this.#flushes.size > 0;
  }

  #wake(): void {
    while (this.#isWorthAnother()) {
      const group = this.#buffer.take();
      if (group.length === 0) break;
      this.#running++;
      const end = once(() => {
        this.#running--;
        this.#wake();
      });
      this.#begin(group, { isSuspected: false, inserted: end, refused: end }, end);
    }
    if (this.#isPaused || this.#runsApart || this.#buffer.readyApart === 0) return;
    this.#runsApart = true;
    const end = once(() => {
      this.#runsApart = false;
      this.#wake();
    });
    const group = this.#buffer.takeApart();
    // Copies of the tables have not shown the reason.
    const isSuspected = !group.some(({ app }) => this.#options.suspects.isUnsure(app));
    this.#begin(group, { isSuspected, inserted: end, refused: () => undefined }, end);
  }

  #begin(group: readonly Waiting[], turn: Turn, end: () => void): void {
    const run = this.#run(group, turn).finally(() => {
      this.#runs.delete(run);
      end();
      // Batches that were put back wait for a turn.
      this.#wake();
    });
    this.#runs.add(run);
  }

  /**
   * True if the waiting batches justify a flush beside the running one: at least half of the peak. Senders
   * that have just got their answer count too, because they come again. A smaller flush would leave a rest
   * that waits for a third flush.
   */
  #isWorthAnother(): boolean {
    const { ready, peak } = this.#buffer;
    if (ready === 0 || this.#isPaused) return false;
    if (this.#running === 0) return true;
    return this.#options.isAlone && this.#running < FLUSHES_AT_ONCE && ready >= peak / FLUSHES_AT_ONCE;
  }

  async #run(group: readonly Waiting[], turn: Turn): Promise<void> {
    const work = workOf(group);
    for (const batch of group) batch.work?.waitFor(work);
    this.#flushes.add(work);
    try {
      await inWork(work, async () => {
        await this.#options.flusher.marks.keepUp();
        await this.#flushOrSplit(group, turn);
      });
      work.span?.end();
    } catch (error) {
      work.span?.end({ error });
      rejectAll(group, error);
    } finally {
      this.#flushes.delete(work);
    }
  }

  /** Flushes a group. A group that is refused is split, down to the batches that are refused alone. */
  async #flushOrSplit(group: readonly Waiting[], turn: Turn): Promise<void> {
    const { flusher, suspects } = this.#options;
    try {
      await flusher.flush(group, turn, this.#buffer);
      suspects.acquit(group);
    } catch (error) {
      if (!(error instanceof Refused)) return rejectAll(group, error);
      const reasons = error.batches ?? group;
      suspects.add(reasons, error.batches !== null);
      if (error.stored !== 'nothing') return rejectAll(group, notNow());
      const [batch, ...more] = group;
      if (batch !== undefined && more.length === 0) return this.#putAside(batch, error);
      for (const part of partsOf(group, reasons))
        await this.#flushOrSplit(part, { ...turn, isSuspected: true });
    }
  }

  async #putAside(batch: Waiting, refusal: Refused): Promise<void> {
    const { setAside, persistence, log } = this.#options;
    const isThere = await persistence
      .until('put aside', () => setAside.add(batch, refusal.code))
      .catch((error: unknown) => {
        if (!(error instanceof Refused)) throw error;
        log.error({ err: error }, 'ingestion: a batch cannot be put aside');
        return false;
      });
    const { app, batch: id } = batch;
    const message = isThere
      ? 'put a batch aside'
      : 'a batch is refused, and there is no room to put it aside';
    log.error({ err: refusal, app, batch: id }, `ingestion: ${message}`);
    batch.reject(isThere ? putAside(refusal) : notNow());
  }
}
