import { DAY_MS, type EpochMs, epochMs, MINUTE_MS } from '../domain/time.ts';
import type { Flush, Journal, OpenFlush } from './journal.ts';
import { type IngestLog, isUnreadable, type Persistence } from './retry.ts';

/** A flush of another process is left to it for this long; no statement may run longer. */
const LEASE_MS = MINUTE_MS;
const SWEEP_EVERY_MS = 30_000;
/** How long settled flushes stay in the journal, to be looked at. */
const KEEP_MS = DAY_MS;

export interface SettlerOptions {
  readonly journal: Journal;
  readonly persistence: Persistence;
  readonly log: IngestLog;
  /** No other process is on the store: an open flush at the start is a dead one. */
  readonly exclusive: boolean;
}

/** Brings flushes to their end: our own, and those that a process left behind when it died. */
export class Settler {
  readonly #options: SettlerOptions;
  /** Every flush written down before this instant of the store's clock is stored or abandoned. */
  #settled: EpochMs = epochMs(0);
  #nextSweep = 0;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  get settled(): EpochMs {
    return this.#settled;
  }

  /**
   * Stores a flush whose verdict is `store`, and its markers last. The markers are looked for before anything is sent
   * again: after a long absence another process may have done it, and the store forgets tokens.
   */
  async complete(flush: Flush, foundInJournal: boolean): Promise<void> {
    const { journal, persistence } = this.#options;
    try {
      await persistence.until('store flush', async (attempt) => {
        if ((attempt > 0 || foundInJournal) && (await journal.isStored(flush.id, this.#settled))) return;
        await journal.insertEvents(flush);
        await journal.markStored(flush);
      });
    } catch (error) {
      if (isUnreadable(error)) await persistence.until('withdraw flush', () => journal.withdraw(flush.id));
      throw error;
    }
  }

  /** At the start, before anything is accepted: what a crash left. */
  async start(): Promise<void> {
    await this.#sweep(this.#options.exclusive ? 0 : LEASE_MS);
  }

  async sweepIfDue(): Promise<void> {
    if (performance.now() >= this.#nextSweep) await this.#sweep(LEASE_MS);
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
  async #settle(open: OpenFlush): Promise<void> {
    const { journal, persistence, log } = this.#options;
    const verdict = await persistence.until('settle flush', () => journal.decide(open.flush, 'abandon'));
    if (verdict === 'abandon') return;
    const flush = await persistence.until('read flush', () => journal.read(open));
    try {
      await this.complete(flush, true);
      log.info({ batches: flush.batches.length }, 'ingestion: completed a flush that a process left behind');
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      log.error({ err: error }, 'ingestion: withdrew a flush that the store cannot read');
    }
  }
}
