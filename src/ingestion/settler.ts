import { DAY_MS, type EpochMs, epochMs, MINUTE_MS } from '../domain/time.ts';
import type { Span, Underway } from '../facts/underway.ts';
import type { Flush, Journal, OpenFlush } from './journal.ts';
import { spansOf } from './ledger-rows.ts';
import { type IngestLog, isUnreadable, type Persistence } from './retry.ts';

/** A flush of another process is left to it for this long; no statement may run longer. */
const LEASE_MS = MINUTE_MS;
const SWEEP_EVERY_MS = 30_000;
/** How long settled flushes stay in the journal, to be looked at. */
const KEEP_MS = DAY_MS;
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
  /** Every flush written down before this instant of the store's clock is stored or abandoned. */
  #settled: EpochMs = epochMs(0);
  #nextSweep = 0;
  /** Flushes of which only the marks are missing. */
  readonly #unmarked: string[] = [];
  #unmarkedBatches = 0;
  #marking: Promise<void> | null = null;
  #markTimer: NodeJS.Timeout | null = null;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  get settled(): EpochMs {
    return this.#settled;
  }

  /**
   * Stores a flush that this process has just written down and that nobody else stores. `inserted` is called when nothing is left to
   * do that takes long.
   */
  async complete({ id, batches, hours }: Flush, inserted: () => void): Promise<void> {
    const spans = spansOf(hours);
    if (!this.#options.exclusive) return this.#orWithdraw(id, spans, () => this.#store(id, hours, false));
    await this.#orWithdraw(id, spans, () => this.#insert(id, hours, inserted));
    this.#unmarked.push(id);
    this.#unmarkedBatches += batches.length;
    this.#markTimer ??= setTimeout(() => {
      // What fails for good is completed at the next start.
      this.markAll().catch(() => undefined);
    }, MARK_AFTER_MS).unref();
  }

  /** What has to be done before the next flush. */
  async keepUp(): Promise<void> {
    if (this.#unmarkedBatches > MAX_UNMARKED) await this.markAll();
    if (performance.now() < this.#nextSweep) return;
    await this.markAll();
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
      await persistence.until('mark flushes', () => journal.markStored(flushes, this.#settled));
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
    const until = epochMs((await persistence.until('store clock', journal.storeNow)) - leaseMs);
    const open = await persistence.until('open flushes', () => journal.open(this.#settled, until));
    for (const flush of open) await this.#settle(flush);
    this.#settled = until;
    this.#nextSweep = performance.now() + SWEEP_EVERY_MS;
  }

  /** Forgets flushes that were settled long ago. */
  async forget(): Promise<void> {
    if (this.#settled > KEEP_MS) await this.#options.journal.forget(epochMs(this.#settled - KEEP_MS));
  }

  /** Its owner said `store`, or it never will: the proposal to abandon it then stands. */
  async #settle({ id, decided }: OpenFlush): Promise<void> {
    const { journal, persistence, log } = this.#options;
    const verdict = decided
      ? 'store'
      : await persistence.until('settle flush', () => journal.decide(id, 'abandon'));
    if (verdict === 'abandon') return;
    try {
      await this.#orWithdraw(id, null, () => this.#store(id, null, true));
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
        await persistence.until('withdraw flush', () => journal.withdraw(flush, this.#settled));
        landed();
      }
      throw error;
    }
    landed();
  }

  /** The events, and when all of them are visible, that they are committed: no answer may leave them out from then on. */
  async #insert(flush: string, hours: Flush['hours'], inserted: () => void): Promise<void> {
    const { journal, persistence } = this.#options;
    await persistence.until('store flush', () => journal.insertEvents(flush, this.#settled));
    inserted();
    await persistence.until('commit flush', () => journal.commit(flush, this.#settled, hours));
  }

  /**
   * Where other processes are on the store: they hear that it begins before the first event is there. The marks come last, and are
   * looked for before anything is sent again: after a long absence another process may have done it, and the store forgets tokens.
   */
  async #store(flush: string, hours: Flush['hours'] | null, foundInJournal: boolean): Promise<void> {
    const { journal, persistence, exclusive } = this.#options;
    await persistence.until('store flush', async (attempt) => {
      if ((attempt > 0 || foundInJournal) && (await journal.isStored(flush, this.#settled))) return;
      if (!exclusive) await journal.begin(flush, this.#settled);
      await journal.insertEvents(flush, this.#settled);
      await journal.commit(flush, this.#settled, hours);
      await journal.markStored([flush], this.#settled);
    });
  }
}
