import { AppError } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';
import type { BatchKey } from './batch-key.ts';
import type { Flusher } from './flusher.ts';
import type { HeldFlushes } from './held-flushes.ts';
import type { Journal } from './journal.ts';
import type { OpenFlush } from './journal-sql.ts';
import { type IngestLog, type Persistence, Refused } from './retry.ts';

/**
 * A flush of another process is left alone for this long after this process first saw it. No statement may
 * run longer.
 */
const LEASE_MS = MINUTE_MS;

export interface SettlerOptions {
  readonly journal: Journal;
  readonly flusher: Flusher;
  readonly persistence: Persistence;
  readonly held: HeldFlushes;
  readonly log: IngestLog;
  /** Selects the open flushes that this one settles, by one of their batches. */
  readonly isMine: (batch: BatchKey) => boolean;
  /** True if no other process is on the store. Then an open flush at the start is a dead one. */
  readonly isAlone: boolean;
}

/** Brings flushes to their end that are held, or that a dead process left behind. */
export class Settler {
  readonly #options: SettlerOptions;
  #sweeping: Promise<void> | null = null;
  /** When this process first saw the open flushes of other processes, by a monotonic clock. */
  #seen = new Map<string, number>();

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /** Settles the flushes that a crash left behind. Runs at the start, before any batch is accepted. */
  async start(): Promise<void> {
    await this.#sweep(this.#options.isAlone ? 0 : LEASE_MS);
  }

  /**
   * Settles the flushes that other processes left behind, and retries those that are held. Call it every half
   * minute.
   */
  sweep(): Promise<void> {
    const { isAlone } = this.#options;
    this.#sweeping ??= (isAlone ? this.#repeatHeld() : this.#sweep(LEASE_MS)).finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  async #sweep(leaseMs: number): Promise<void> {
    const { journal, persistence, isMine, held } = this.#options;
    const all = await persistence.until('open flushes', journal.open);
    const open = all.filter(({ batch }) => isMine(batch));
    const now = performance.now();
    this.#seen = new Map(open.map(({ id }) => [id, this.#seen.get(id) ?? now]));
    for (const flush of open) {
      const isLeft = now - (this.#seen.get(flush.id) ?? now) >= leaseMs;
      if (isLeft || held.get(flush.id) !== undefined) await this.#settle(flush);
    }
    // Another process has completed these.
    for (const { id } of held.all) if (!this.#seen.has(id)) held.end(id);
  }

  async #repeatHeld(): Promise<void> {
    for (const flush of this.#options.held.all) await this.#settle(flush);
  }

  /**
   * Settles an open flush. If its owner has not written `store`, the proposal to abandon it stands, and the
   * owner will never store it. If it has, it can no longer withdraw it.
   */
  async #settle(open: OpenFlush): Promise<void> {
    const { journal, flusher, persistence, held, log } = this.#options;
    const { id } = open;
    const takeOver = async () =>
      (await journal.decide(id, 'abandon')) === 'abandon' ? 'abandon' : journal.decideAgain(id, 'store');
    try {
      const verdict = open.decided ? 'store' : await persistence.until('settle flush', takeOver);
      if (verdict === 'abandon') return held.end(id);
      await flusher.complete(open);
      log.info('ingestion: completed a flush that was left behind');
    } catch (error) {
      const isSettled = error instanceof Refused || (error instanceof AppError && !persistence.isStopped);
      if (!isSettled) throw error;
      log.error({ err: error, flush: id }, 'ingestion: could not complete a flush that was left behind');
    }
  }
}
