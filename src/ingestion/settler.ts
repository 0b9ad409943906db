import { AppError } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';
import type { Span, Underway } from '../facts/underway.ts';
import type { BatchKey } from './batch-key.ts';
import type { Flush, Journal, OpenFlush } from './journal.ts';
import { spansOf } from './ledger-rows.ts';
import { type IngestLog, isUnreadable, type Persistence } from './retry.ts';

/** A flush of another process is left to it for this long since it was first seen here; no statement may run longer. */
const LEASE_MS = MINUTE_MS;
const SWEEP_EVERY_MS = 30_000;
/** Marks that nobody waits for are written together: so late, and at most for so many batches. */
const MARK_AFTER_MS = 100;
const MAX_UNMARKED = 5_000;

export interface SettlerOptions {
  readonly journal: Journal;
  readonly persistence: Persistence;
  readonly log: IngestLog;
  /** No other process is on the store: an open flush at the start is a dead one. */
  readonly exclusive: boolean;
  readonly underway: Underway;
}

/** Brings flushes to their end: our own, and those that a process left behind when it died. */
export class Settler {
  readonly #options: SettlerOptions;
  #nextSweep = 0;
  /** When other processes' flushes were first seen open here, by a clock that nobody sets. */
  #seen = new Map<string, number>();
  /** Flushes of which only the marks are missing. */
  readonly #unmarked: string[] = [];
  #unmarkedBatches = 0;
  #marking: Promise<void> | null = null;
  #markTimer: NodeJS.Timeout | null = null;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /**
   * Stores a flush that this process has just written down and that nobody else stores. `inserted` is called when nothing is left to
   * do that takes long.
   */
  async complete({ id, batches, hours }: Flush, inserted: () => void): Promise<void> {
    const spans = spansOf(hours);
    const [one] = batches;
    if (one === undefined) return;
    if (!this.#options.exclusive) {
      return this.#orWithdraw(id, spans, () => this.#store(id, one, hours, false));
    }
    await this.#orWithdraw(id, spans, () => this.#insert(id, hours, inserted));
    this.#unmarked.push(id);
    this.#unmarkedBatches += batches.length;
    this.#markTimer ??= setTimeout(() => {
      // What fails for good is completed at the next start.
      this.markAll().catch(() => undefined);
    }, MARK_AFTER_MS).unref();
  }

  /** What has to be done before the next flush. Where this process is alone, nothing is open that it does not know. */
  async keepUp(): Promise<void> {
    if (this.#unmarkedBatches > MAX_UNMARKED) await this.markAll();
    if (this.#options.exclusive || performance.now() < this.#nextSweep) return;
    await this.#sweep(LEASE_MS);
  }

  /** Resolves when every flush that is stored is marked so. */
  markAll(): Promise<void> {
    this.#marking ??= this.#mark().finally(() => {
      this.#marking = null;
    });
    return this.#marking;
  }

  async #mark(): Promise<void> {
    if (this.#markTimer !== null) clearTimeout(this.#markTimer);
    this.#markTimer = null;
    const { journal, persistence } = this.#options;
    for (let [first, ...more] = this.#unmarked; first !== undefined; [first, ...more] = this.#unmarked) {
      const flushes: readonly [string, ...string[]] = [first, ...more];
      const batches = this.#unmarkedBatches;
      await persistence.until('mark flushes', () => journal.markStored(flushes));
      this.#unmarked.splice(0, flushes.length);
      this.#unmarkedBatches -= batches;
    }
  }

  /** At the start, before anything is accepted: what a crash left. */
  async start(): Promise<void> {
    await this.#sweep(this.#options.exclusive ? 0 : LEASE_MS);
  }

  async #sweep(leaseMs: number): Promise<void> {
    const { journal, persistence } = this.#options;
    const open = await persistence.until('open flushes', journal.open);
    const now = performance.now();
    this.#seen = new Map(open.map(({ id }) => [id, this.#seen.get(id) ?? now]));
    for (const flush of open) {
      if (now - (this.#seen.get(flush.id) ?? now) >= leaseMs) await this.#settle(flush);
    }
    this.#nextSweep = performance.now() + SWEEP_EVERY_MS;
  }

  /** Forgets flushes that are settled. */
  forget(): Promise<void> {
    return this.#options.journal.forget();
  }

  /** Its owner said `store`, or it never will: the proposal to abandon it then stands. */
  async #settle({ id, batch, decided }: OpenFlush): Promise<void> {
    const { journal, persistence, log } = this.#options;
    const verdict = decided
      ? 'store'
      : await persistence.until('settle flush', () => journal.decide(id, 'abandon'));
    if (verdict === 'abandon') return;
    try {
      await this.#orWithdraw(id, null, () => this.#store(id, batch, null, true));
      log.info('ingestion: completed a flush that a process left behind');
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      log.error({ err: error }, 'ingestion: withdrew a flush that the store cannot read');
    }
  }

  /**
   * Stores a flush that is announced meanwhile; one that the store cannot read is withdrawn: its senders start again, so it must not
   * come back. One of which nothing is certain stays announced: this process ends then, or repeats it.
   */
  async #orWithdraw(flush: string, spans: readonly Span[] | null, store: () => Promise<void>): Promise<void> {
    const { journal, persistence, underway } = this.#options;
    const landed = underway.announce(spans);
    try {
      await store();
    } catch (error) {
      if (isUnreadable(error)) {
        await persistence.until('withdraw flush', () => journal.withdraw(flush));
        landed();
      }
      throw error;
    }
    landed();
  }

  /** The events, and when all of them are visible, that they are committed: no answer may leave them out from then on. */
  async #insert(flush: string, hours: Flush['hours'], inserted: () => void): Promise<void> {
    const { journal, persistence } = this.#options;
    await persistence.until('store flush', () => journal.insertEvents(flush));
    inserted();
    await persistence.until('commit flush', () => journal.commit(flush, hours));
  }

  /**
   * Where other processes are on the store: they hear that it begins before the first event is there. The marks come last, and are
   * looked for before anything is sent again: after a long absence another process may have done it, and the store forgets tokens.
   * They are written only while the flush's rows are there, for these were there too when the events were inserted; a flush without
   * rows was settled by others meanwhile.
   */
  async #store(
    flush: string,
    batch: BatchKey,
    hours: Flush['hours'] | null,
    foundInJournal: boolean,
  ): Promise<void> {
    const { journal, persistence, exclusive } = this.#options;
    const isStored = await persistence.until('store flush', async (attempt) => {
      if ((attempt > 0 || foundInJournal) && (await journal.isStored(flush, batch))) return true;
      if (!exclusive) await journal.begin(flush);
      await journal.insertEvents(flush);
      if (!exclusive && !(await journal.isWritten(flush))) return journal.isStored(flush, batch);
      await journal.commit(flush, hours);
      await journal.markStored([flush]);
      return true;
    });
    if (!isStored) {
      throw new AppError('store_unavailable', 'The batch was given up meanwhile. Send it again.', {
        retryAfterSeconds: 1,
      });
    }
  }
}
