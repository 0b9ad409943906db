import { AppError } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';
import type { Span, Underway } from '../facts/underway.ts';
import { type BatchKey, batchKey } from './batch-key.ts';
import type { Flush, Journal, OpenFlush } from './journal.ts';
import { spansOf } from './ledger-rows.ts';
import { type IngestLog, type Persistence, Refused, type RefusedRest } from './retry.ts';

/** A flush of another process is left to it for this long since it was first seen here; no statement may run longer. */
const LEASE_MS = MINUTE_MS;
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

/** A flush of which `events` has taken the rows and a view has not. Nobody waits for it; it is tried again until it is whole. */
interface Held {
  readonly id: string;
  readonly batches: ReadonlySet<string>;
  /** One of them. */
  readonly batch: BatchKey;
  /** See `Underway.announce`. */
  readonly landed: () => void;
}

/** Brings flushes to their end: our own, and those that a process left behind when it died. */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #held = new Map<string, Held>();
  #sweeping: Promise<void> | null = null;
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

  /** How many batches wait for a view to be mended. */
  get heldBatches(): number {
    return [...this.#held.values()].reduce((sum, { batches }) => sum + batches.size, 0);
  }

  /** Whether the batch is in a flush that is held. */
  holds(batch: BatchKey): boolean {
    const key = batchKey(batch);
    return [...this.#held.values()].some(({ batches }) => batches.has(key));
  }

  /**
   * Stores a flush that this process has just written down and that nobody else stores. `inserted` is called when nothing is left to
   * do that takes long. Throws Refused where nothing of it is stored nor ever will be, or where a part is: then it is held.
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
      // What fails for good is completed at the next start.
      this.markAll().catch(() => undefined);
    }, MARK_AFTER_MS).unref();
  }

  /** What has to be done before the next flush: what only this process knows stays little. */
  async keepUp(): Promise<void> {
    if (this.#unmarkedBatches > MAX_UNMARKED) await this.markAll();
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

  /** To be called every half minute: what other processes left, and what is held. */
  sweep(): Promise<void> {
    this.#sweeping ??= (this.#options.exclusive ? this.#repeatHeld() : this.#sweep(LEASE_MS)).finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  async #sweep(leaseMs: number): Promise<void> {
    const { journal, persistence } = this.#options;
    const open = await persistence.until('open flushes', journal.open);
    const now = performance.now();
    this.#seen = new Map(open.map(({ id }) => [id, this.#seen.get(id) ?? now]));
    for (const flush of open) {
      const isLeft = now - (this.#seen.get(flush.id) ?? now) >= leaseMs;
      if (isLeft || this.#held.has(flush.id)) await this.#settle(flush);
    }
    for (const { id, landed } of this.#held.values()) {
      if (this.#seen.has(id)) continue;
      // Another process has made it whole.
      this.#held.delete(id);
      landed();
    }
  }

  async #repeatHeld(): Promise<void> {
    for (const { id, batch } of this.#held.values()) await this.#settle({ id, batch, decided: true });
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
      await this.#orGiveUp(id, batch, null, () => this.#store(id, batch, null, true));
      log.info('ingestion: completed a flush that was left behind');
    } catch (error) {
      const isSettled = error instanceof Refused || (error instanceof AppError && !persistence.isStopped);
      if (!isSettled) throw error;
      log.error({ err: error, flush: id }, 'ingestion: could not complete a flush that was left behind');
    }
  }

  /**
   * Stores a flush that is announced meanwhile. What the store refuses as a whole is withdrawn: its senders start again, so it must not
   * come back. Of a part only its own repetition makes the whole, once: it is held. One of which nothing is certain stays announced:
   * this process ends then, or repeats it.
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

  /** While refusals are expected: a view refuses rows when `events` has them already, and such a flush can't be split any more. */
  async #rehearse(flush: string): Promise<void> {
    const { journal, persistence } = this.#options;
    if (!persistence.isSuspicious) return;
    const refusal = await journal.refusalOf(flush).catch(() => null);
    if (refusal !== null) throw persistence.refused('rehearse flush', 'nothing', refusal.cause);
  }

  /** What is stored of a flush that `events` or a view refuses; null: neither does, for what it holds. */
  async #trial(flush: string): Promise<RefusedRest | null> {
    const refusal = await this.#options.journal.refusalOf(flush);
    if (refusal === null) return null;
    return refusal.by === 'events' ? 'nothing' : 'a part';
  }

  /** The events, and when all of them are visible, that they are committed: no answer may leave them out from then on. */
  async #insert(flush: string, hours: Flush['hours'], inserted: () => void): Promise<void> {
    const { journal, persistence } = this.#options;
    const trial = () => this.#trial(flush);
    await persistence.until('store flush', () => journal.insertEvents(flush), trial);
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
    const store = async (attempt: number): Promise<boolean> => {
      if ((attempt > 0 || foundInJournal) && (await journal.isStored(flush, batch))) return true;
      if (!exclusive) await journal.begin(flush);
      await journal.insertEvents(flush);
      if (!exclusive && !(await journal.isWritten(flush))) return journal.isStored(flush, batch);
      await journal.commit(flush, hours);
      await journal.markStored([flush]);
      return true;
    };
    const isStored = await persistence.until('store flush', store, () => this.#trial(flush));
    if (!isStored) {
      throw new AppError('store_unavailable', 'The batch was given up meanwhile. Send it again.', {
        retryAfterSeconds: 1,
      });
    }
  }
}
