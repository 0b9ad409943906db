import { randomUUID } from 'node:crypto';
import type { AppError } from '../domain/errors.ts';
import { currentWork, inWork, Work } from '../domain/work.ts';
import { BatchBuffer, type Held, type Outcome, type PendingBatch, type Waiting } from './batch-buffer.ts';
import { batchKey } from './batch-key.ts';
import type { Claim, Flush, Journal } from './journal.ts';
import type { KnownBatches } from './known-batches.ts';
import { mergedHours } from './ledger-rows.ts';
import { notNow, partsOf, putAside, rejectAll } from './refused-batches.ts';
import { type IngestLog, type Persistence, Refused, type Verdict } from './retry.ts';
import type { SetAside } from './set-aside.ts';
import type { Settler, Turn } from './settler.ts';
import type { Suspects } from './suspects.ts';

/**
 * While one flush waits for the disk, another is written to the journal. More flushes would only be smaller
 * ones. A flush no longer counts once its events are inserted.
 */
const FLUSHES_AT_ONCE = 2;

/** A flush that is stored, and the time from its first step on. */
export interface StoredFlush {
  readonly batches: number;
  readonly events: number;
  readonly ms: number;
}

export interface FlusherOptions {
  readonly journal: Journal;
  readonly settler: Settler;
  readonly persistence: Persistence;
  readonly suspects: Suspects;
  readonly setAside: SetAside;
  readonly log: IngestLog;
  /** Called when a flush is stored. */
  readonly onFlush?: (flush: StoredFlush) => void;
  /** Null if other processes are on the store: one of them may claim a batch. */
  readonly known: KnownBatches | null;
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

/** Returns the batches that must not be stored after all, with the reasons. */
async function refusalsOf(group: readonly Waiting[]): Promise<ReadonlyMap<Waiting, unknown>> {
  const refusals = new Map<Waiting, unknown>();
  await Promise.all(
    group.map((batch) => batch.check?.().catch((error: unknown) => refusals.set(batch, error))),
  );
  return refusals;
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
 * Stores batches of one shard's apps, many in one insert, each exactly once. One flush runs at a time. Two run
 * if no other process is on the store; no batch is in both. The steps of a flush:
 *
 * 1. The flush (rows and batch ids) is written to the journal. This claims its batches.
 * 2. Batches that are stored already, or claimed by another process, are looked up. If there are any, the
 *    flush is abandoned and the other batches start again. Two processes with the same batch cannot both find
 *    nothing: the later claim sees the earlier one. Both may step back; random pauses keep them from doing so
 *    forever. An import also checks that it still has its turn (`history.ts`).
 * 3. The verdict is written. If another process took this one for dead, its verdict came first and stands.
 * 4. `ingest_begun` counts the events. From now on an answer may hold some of them, and no such answer is
 *    cached (`snapshots/begun.ts`).
 * 5. The events are inserted from the journal in one block, views included. The flush's id is the token.
 * 6. `ledger` counts the events. They are committed: from now on no answer leaves one out.
 * 7. The batches are marked as stored, and their senders get their answer.
 *
 * If no other process is on the store, four steps differ. Batches that may be stored already are looked up
 * first, and the flush is written down with its verdict, so steps 2 and 3 are skipped. Step 4 happens in
 * memory. Nobody waits for step 7, because only later processes need these marks.
 *
 * If the store refuses a step of a flush because of its content, the next flush begins at once. The refused one is split,
 * and a batch that is refused alone is put aside. Copies of the tables that keep nothing tell which rows are the reason
 * (rehearsal.ts). A flush is never split if one of its rows may be stored. If the store refuses a later step, or a view
 * refuses rows that `events` has accepted, the flush is held and repeated with its own token until it is whole. For some
 * minutes the apps of the reasons are stored apart, by one flush at a time beside the others (suspects.ts). If the reasons are
 * unknown, each app of the flush is stored alone, until that has succeeded once.
 *
 * If the outcome of a step is unknown, the step is repeated unchanged until it succeeds; its flush waits for
 * it. If a process dies after step 3, the next process completes the flush. If it dies earlier, it leaves
 * only a claim, which is abandoned.
 */
export class Flusher {
  readonly #options: FlusherOptions;
  readonly #buffer: BatchBuffer;
  /** The flushes that run. */
  readonly #flushes = new Set<Work>();
  /** Flushes until they have ended. */
  readonly #runs = new Set<Promise<void>>();
  #running = 0;
  /** True while a flush of suspected apps runs. */
  #runsApart = false;
  #isPaused = false;

  constructor(options: FlusherOptions) {
    this.#options = options;
    this.#buffer = new BatchBuffer(() => this.#wake(), options.suspects);
  }

  /** The content of the buffer, including the flush in progress. */
  get held(): Held {
    return this.#buffer.held;
  }

  /** The part of it that belongs to the app. */
  heldOf(app: string): Held {
    return this.#buffer.heldOf(app);
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
   * Puts an app on hold: its batches wait until the result is called. Resolves when this process stores none of
   * them. An app is put on hold by one caller at a time.
   */
  async hold(app: string): Promise<() => void> {
    const release = this.#buffer.hold(app);
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
    return this.#options.known !== null && this.#running < FLUSHES_AT_ONCE && ready >= peak / FLUSHES_AT_ONCE;
  }

  async #run(group: readonly Waiting[], turn: Turn): Promise<void> {
    const work = workOf(group);
    for (const batch of group) batch.work?.waitFor(work);
    this.#flushes.add(work);
    try {
      await inWork(work, async () => {
        await this.#options.settler.marks.keepUp();
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
    try {
      await this.#flush(group, turn);
      this.#options.suspects.acquit(group);
    } catch (error) {
      if (!(error instanceof Refused)) return rejectAll(group, error);
      const reasons = error.batches ?? group;
      this.#options.suspects.add(reasons, error.batches !== null);
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

  async #flush(group: readonly Waiting[], turn: Turn): Promise<void> {
    const { known, settler, onFlush } = this.#options;
    const started = performance.now();
    // The journal holds their rows already.
    const held = group.filter((batch) => settler.holds(batch));
    rejectAll(held, notNow());
    const free = held.length === 0 ? group : group.filter((batch) => !held.includes(batch));
    const fresh = known === null ? free : await this.#withoutStored(known, free, turn);
    if (fresh.length === 0) return;
    const flush: Flush = {
      id: randomUUID(),
      batches: fresh.map(({ app, batch, rows }) => ({ app, batch, rows })),
      hours: mergedHours(fresh.flatMap(({ hours }) => hours)),
    };
    if (!(await this.#isOurs(flush, fresh, turn))) return;
    await settler.complete(flush, turn);
    for (const batch of fresh) batch.resolve('stored');
    const events = fresh.reduce((sum, batch) => sum + batch.events, 0);
    onFlush?.({ batches: fresh.length, events, ms: performance.now() - started });
  }

  async #withoutStored(
    known: KnownBatches,
    group: readonly Waiting[],
    { refused }: Turn,
  ): Promise<readonly Waiting[]> {
    const { journal, persistence } = this.#options;
    const possible = group.filter((batch) => known.mayHold(batch));
    for (const batch of group) known.add(batch);
    if (possible.length === 0) return group;
    const stored = await persistence.until('look up batches', () => journal.storedOf(possible), { refused });
    return group.filter((batch) => {
      const isStored = stored.has(batchKey(batch));
      if (isStored) batch.resolve('duplicate');
      return !isStored;
    });
  }

  /** Writes the flush down. False if it was abandoned and its batches start again. */
  async #isOurs(flush: Flush, group: readonly Waiting[], turn: Turn): Promise<boolean> {
    const { journal, persistence, known, settler } = this.#options;
    const isAlone = known !== null;
    let isClaimed = false;
    try {
      const trial = async (isCertain: boolean): Promise<Verdict | null> => {
        const refusal = isCertain ? await journal.refusalOfClaim(flush) : null;
        return refusal === null ? null : { ...refusal, stored: 'nothing' };
      };
      const { refused } = turn;
      await persistence.until('claim', () => journal.claim(flush, isAlone), { refused, trial });
      isClaimed = true;
      return isAlone || (await this.#isDecided(flush, group, turn));
    } catch (error) {
      // The journal may hold the flush, and no other flush may take its batches.
      if (error instanceof Refused && (isClaimed || error.stored === 'a part')) {
        settler.hold(flush, isAlone, error);
      }
      throw error;
    }
  }

  /** Gets the verdict on a flush that is written down. */
  async #isDecided(flush: Flush, group: readonly Waiting[], { refused }: Turn): Promise<boolean> {
    const { journal, persistence } = this.#options;
    const claims = await persistence.until('look up claims', () => journal.claims(flush.id), { refused });
    const refusals = await refusalsOf(group);
    const proposal = claims.length === 0 && refusals.size === 0 ? 'store' : 'abandon';
    const verdict = await persistence.until('decide', () => journal.decide(flush.id, proposal), { refused });
    if (verdict === 'store') return true;
    for (const [batch, error] of refusals) rejectAll([batch], error);
    this.#startAgain(
      group.filter((batch) => !refusals.has(batch)),
      claims,
    );
    return false;
  }

  #startAgain(group: readonly Waiting[], claims: readonly Claim[]): void {
    const stored = new Set(claims.filter((claim) => claim.stored).map(({ key }) => key));
    const claimed = new Set(claims.map(({ key }) => key));
    const free: Waiting[] = [];
    for (const batch of group) {
      const key = batchKey(batch);
      if (stored.has(key)) batch.resolve('duplicate');
      else if (claimed.has(key)) this.#buffer.park(batch);
      else free.push(batch);
    }
    this.#buffer.putBack(free);
  }
}
