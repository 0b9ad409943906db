import type { Span, Underway } from '../clickhouse/underway.ts';
import { AppError } from '../domain/errors.ts';
import { type Clock, type EpochMs, MINUTE_MS } from '../domain/time.ts';
import { type BatchKey, batchKey } from './batch-key.ts';
import type { Flush, Journal } from './journal.ts';
import type { OpenFlush } from './journal-sql.ts';
import type { KnownBatches } from './known-batches.ts';
import { spansOf } from './ledger-rows.ts';
import { type IngestLog, type Persistence, Refused, type RefusedRest } from './retry.ts';

/**
 * A flush of another process is left alone for this long after this process first saw it. No statement may
 * run longer.
 */
const LEASE_MS = MINUTE_MS;
/**
 * The delay and the number of batches after which marks are written together. Nobody waits for these marks.
 */
const MARK_AFTER_MS = 100;
const MAX_UNMARKED = 5_000;

export interface SettlerOptions {
  readonly journal: Journal;
  readonly persistence: Persistence;
  readonly log: IngestLog;
  /** True if no other process is on the store. An open flush at the start is then a dead one. */
  readonly exclusive: boolean;
  /** The machine's clock, which is also the store's if `exclusive`. Without it, commits are not remembered. */
  readonly wallClock?: Clock;
  /** Selects the open flushes that this one settles, by one of their batches. */
  readonly isMine: (batch: BatchKey) => boolean;
  readonly underway: Underway;
  /** Null if other processes are on the store. */
  readonly known: KnownBatches | null;
}

/**
 * A flush with rows that `events` has accepted and a view has not. Nobody waits for it. It is retried until
 * it is whole.
 */
interface Held {
  readonly id: string;
  readonly batches: ReadonlySet<string>;
  /** One of its batches. */
  readonly batch: BatchKey;
  /** See `Underway.announce`. */
  readonly landed: () => void;
}

/** Brings flushes to their end: our own, and those that a dead process left behind. */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #held = new Map<string, Held>();
  #sweeping: Promise<void> | null = null;
  /** When this process first saw the open flushes of other processes, by a monotonic clock. */
  #seen = new Map<string, number>();
  /** Flushes that lack only their marks. */
  readonly #unmarked: string[] = [];
  #unmarkedBatches = 0;
  #marking: Promise<void> | null = null;
  #markTimer: NodeJS.Timeout | null = null;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  /** The number of batches that wait for a view to be repaired. */
  get heldBatches(): number {
    return [...this.#held.values()].reduce((sum, { batches }) => sum + batches.size, 0);
  }

  /** True if the batch is in a flush that is held. */
  holds(batch: BatchKey): boolean {
    const key = batchKey(batch);
    return [...this.#held.values()].some(({ batches }) => batches.has(key));
  }

  /**
   * Stores a flush that this process has just written down and that no other process stores. Calls `inserted`
   * when no slow step is left. Throws Refused in two cases: nothing of the flush is stored nor ever will be,
   * or a part is stored and the flush is held.
   */
  async complete({ id, batches, hours }: Flush, inserted: () => void): Promise<void> {
    const spans = spansOf(hours);
    const [one] = batches;
    if (one === undefined) return;
    const store = this.#options.exclusive
      ? () => this.#insert(id, hours, inserted)
      : () => this.#store(id, one, hours, false);
    await this.#orGiveUp(id, one, spans, async () => {
      await this.#rehearse(id);
      await store();
    });
    if (this.#options.exclusive) this.#markLater(id, batches.length);
  }

  #markLater(flush: string, batches: number): void {
    this.#unmarked.push(flush);
    this.#unmarkedBatches += batches;
    this.#markTimer ??= setTimeout(() => {
      this.#markTimer = null;
      // A mark that fails for good is written at the next start.
      this.markAll().catch(() => undefined);
    }, MARK_AFTER_MS).unref();
  }

  /** Limits the marks that are known to this process only. Call it before the next flush. */
  async keepUp(): Promise<void> {
    if (this.#unmarkedBatches > MAX_UNMARKED) await this.markAll();
  }

  /** Resolves when every stored flush is marked. */
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

  /** Settles the flushes that a crash left behind. Runs at the start, before any batch is accepted. */
  async start(): Promise<void> {
    await this.#sweep(this.#options.exclusive ? 0 : LEASE_MS);
  }

  /**
   * Settles the flushes that other processes left behind, and retries those that are held. Call it every half
   * minute.
   */
  sweep(): Promise<void> {
    this.#sweeping ??= (this.#options.exclusive ? this.#repeatHeld() : this.#sweep(LEASE_MS)).finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  async #sweep(leaseMs: number): Promise<void> {
    const { journal, persistence, isMine } = this.#options;
    const all = await persistence.until('open flushes', journal.open);
    const open = all.filter(({ batch }) => isMine(batch));
    const now = performance.now();
    this.#seen = new Map(open.map(({ id }) => [id, this.#seen.get(id) ?? now]));
    for (const flush of open) {
      const isLeft = now - (this.#seen.get(flush.id) ?? now) >= leaseMs;
      if (isLeft || this.#held.has(flush.id)) await this.#settle(flush);
    }
    for (const { id, landed } of this.#held.values()) {
      if (this.#seen.has(id)) continue;
      // Another process has completed it.
      this.#held.delete(id);
      landed();
    }
  }

  async #repeatHeld(): Promise<void> {
    for (const { id, batch } of this.#held.values()) await this.#settle({ id, batch, decided: true });
  }

  /**
   * Settles an open flush. If its owner has not written `store`, the proposal to abandon it stands, and the
   * owner will never store it.
   */
  async #settle({ id, batch, decided }: OpenFlush): Promise<void> {
    const { journal, persistence, log } = this.#options;
    const verdict = decided
      ? 'store'
      : await persistence.until('settle flush', () => journal.decide(id, 'abandon'));
    if (verdict === 'abandon') return;
    try {
      await this.#orGiveUp(id, batch, null, () => this.#store(id, batch, null, true));
      log.info('ingestion: completed a flush that was left behind');
    } catch (error) {
      const isSettled = error instanceof Refused || (error instanceof AppError && !persistence.isStopped);
      if (!isSettled) throw error;
      log.error({ err: error, flush: id }, 'ingestion: could not complete a flush that was left behind');
    }
  }

  /**
   * Stores a flush and announces it meanwhile. A flush that the store refuses as a whole is withdrawn: its
   * senders start again, so it must not come back. A flush that is stored in part is held: only its own
   * repetition completes it without counting twice. A flush with an unknown outcome stays announced: this
   * process is about to end, or repeats it.
   */
  async #orGiveUp(
    id: string,
    batch: BatchKey,
    spans: readonly Span[] | null,
    store: () => Promise<void>,
  ): Promise<void> {
    const { journal, persistence, underway } = this.#options;
    const landed = this.#held.get(id)?.landed ?? underway.announce(spans);
    try {
      await store();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.stored === 'a part') {
        const all = await persistence.until('batches of flush', () => journal.batchesOf(id));
        // They are stored once the view is repaired, by no flush that the flusher sees.
        for (const one of all) this.#options.known?.add(one);
        this.#held.set(id, { id, batch, batches: new Set(all.map(batchKey)), landed });
        throw error;
      }
      await persistence.until('withdraw flush', () => journal.withdraw(id));
      this.#held.delete(id);
      landed();
      throw error;
    }
    this.#held.delete(id);
    landed();
  }

  /**
   * Tests a flush first while refusals are expected. A view refuses rows when `events` has stored them
   * already, and the flush can no longer be split then.
   */
  async #rehearse(flush: string): Promise<void> {
    const { journal, persistence } = this.#options;
    if (!persistence.isSuspicious) return;
    const refusal = await journal.refusalOf(flush).catch(() => null);
    if (refusal !== null) throw persistence.refused('rehearse flush', 'nothing', refusal.cause);
  }

  /**
   * Returns how much is stored of a flush that `events` or a view refuses. Null if neither refuses it because
   * of its content.
   */
  async #trial(flush: string): Promise<RefusedRest | null> {
    const { journal } = this.#options;
    const refusal = await journal.refusalOf(flush);
    if (refusal === null) return null;
    return refusal.by === 'events' ? 'nothing' : 'a part';
  }

  /**
   * Inserts the events. When all of them are visible, commits them: from then on no answer may leave them
   * out.
   */
  async #insert(flush: string, hours: Flush['hours'], inserted: () => void): Promise<void> {
    const { journal, persistence, wallClock } = this.#options;
    let at: EpochMs | null = null;
    const insert = (attempt: number): Promise<void> => {
      // A repetition may find the events stored, with the time of the attempt before.
      at = attempt === 0 && wallClock !== undefined ? wallClock() : null;
      return journal.insertEvents(flush, at);
    };
    await persistence.until('store flush', insert, () => this.#trial(flush));
    inserted();
    await persistence.until('commit flush', () => journal.commit(flush, hours, at));
  }

  /**
   * Stores a flush that other processes may see. It is announced to them before its first event is visible.
   * The marks come last, and are checked before each repetition: after a long absence another process may
   * have stored the flush, and the store forgets tokens. The marks are written only while the flush's rows
   * are in the journal, because the rows were then also there during the insert. A flush without rows was
   * settled by another process.
   */
  async #store(
    flush: string,
    batch: BatchKey,
    hours: Flush['hours'] | null,
    foundInJournal: boolean,
  ): Promise<void> {
    const { journal, persistence, exclusive } = this.#options;
    const store = async (attempt: number): Promise<boolean> => {
      if ((attempt > 0 || foundInJournal) && (await journal.isStored(flush, batch))) return true;
      if (!exclusive) await journal.begin(flush);
      await journal.insertEvents(flush);
      if (!exclusive && !(await journal.isWritten(flush))) return journal.isStored(flush, batch);
      // From the journal, if other processes may have settled the flush: a token is forgotten after a long absence.
      await journal.commit(flush, exclusive ? hours : null);
      await journal.markStored([flush]);
      return true;
    };
    const isStored = await persistence.until('store flush', store, () => this.#trial(flush));
    if (!isStored) {
      throw new AppError('store_unavailable', 'The batch was given up. Send it again.', {
        retryAfterSeconds: 1,
      });
    }
  }
}
