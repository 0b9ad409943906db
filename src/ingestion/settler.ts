import type { Span, Underway } from '../clickhouse/underway.ts';
import { AppError } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { type BatchKey, batchKey } from './batch-key.ts';
import type { Flush, Journal } from './journal.ts';
import type { OpenFlush } from './journal-sql.ts';
import type { KnownBatches } from './known-batches.ts';
import { spansOf } from './ledger-rows.ts';
import { Marks } from './marks.ts';
import type { FlushRefusal } from './rehearsal.ts';
import { type IngestLog, type Persistence, Refused, type Verdict } from './retry.ts';
import type { Suspects } from './suspects.ts';

/**
 * A flush of another process is left alone for this long after this process first saw it. No statement may
 * run longer.
 */
const LEASE_MS = MINUTE_MS;

export interface SettlerOptions {
  readonly journal: Journal;
  readonly persistence: Persistence;
  readonly suspects: Suspects;
  readonly log: IngestLog;
  /** Selects the open flushes that this one settles, by one of their batches. */
  readonly isMine: (batch: BatchKey) => boolean;
  readonly underway: Underway;
  /** Null if other processes are on the store. Otherwise an open flush at the start is a dead one. */
  readonly known: KnownBatches | null;
}

/**
 * A flush with a step that the store refuses because of its content. Some of its rows may be stored, and nobody waits for
 * it. It is retried until it is whole.
 */
interface Held extends OpenFlush {
  readonly batches: ReadonlySet<string>;
  /** See `Underway.announce`. Null if it was not announced, because nothing of it is stored, or all but its marks. */
  readonly landed: (() => void) | null;
}

/** Tells whether others have to wait for a flush. */
export interface Turn {
  /** True if the store may refuse the flush: its rows are tried on copies of the tables first. */
  readonly isSuspected: boolean;
  /** Called when no slow step is left. */
  readonly inserted: () => void;
  /** Called when the store refuses a step. What follows takes as long as it takes. */
  readonly refused: () => void;
}

/** How far a flush has come. */
interface Progress {
  /** True once others may see that it has begun. */
  isBegun: boolean;
}

/** Brings flushes to their end: our own, and those that a dead process left behind. */
export class Settler {
  readonly #options: SettlerOptions;
  readonly #held = new Map<string, Held>();
  #sweeping: Promise<void> | null = null;
  /** When this process first saw the open flushes of other processes, by a monotonic clock. */
  #seen = new Map<string, number>();
  /** Of flushes that this process has stored. */
  readonly marks: Marks;

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.marks = new Marks(options, (flush, refusal) => this.hold(flush, true, refusal));
  }

  get #isAlone(): boolean {
    return this.#options.known !== null;
  }

  /** The number of batches in flushes that are held. */
  get heldBatches(): number {
    return [...this.#held.values()].reduce((sum, { batches }) => sum + batches.size, 0);
  }

  /** True if the batch is in a flush that is held. */
  holds(batch: BatchKey): boolean {
    const key = batchKey(batch);
    return [...this.#held.values()].some(({ batches }) => batches.has(key));
  }

  /**
   * Stores a flush that this process has just written down and that no other process stores. Throws Refused in two
   * cases: nothing of the flush is stored nor ever will be, or a part is stored and the flush is held.
   */
  async complete(flush: Flush, turn: Turn): Promise<void> {
    const { id, hours } = flush;
    const batches = flush.batches.map(({ app, batch }) => ({ app, batch }));
    const spans = spansOf(hours);
    const [one] = batches;
    if (one === undefined) return;
    const open = { id, batch: one, decided: true };
    await this.#orGiveUp(open, { batches, spans }, async (progress) => {
      if (turn.isSuspected) await this.#rehearse(flush);
      await (this.#isAlone
        ? this.#insert(flush, turn)
        : this.#store(open, { flush, refused: turn.refused, progress }));
    });
    // Not the rows, but their number: a trial needs no more.
    const counted = flush.batches.map(({ rows: { length }, ...key }) => ({ ...key, rows: { length } }));
    if (this.#isAlone) this.marks.later({ id, batches: counted });
  }

  /** Holds a flush that may be in the journal. Nothing else of it is stored, or all but its marks. */
  hold(
    { id, batches }: { readonly id: string; readonly batches: readonly BatchKey[] },
    decided: boolean,
    refusal: Refused,
  ): void {
    const [batch] = batches;
    if (batch !== undefined) this.#hold({ id, batch, decided }, batches, null, refusal);
  }

  #hold(open: OpenFlush, batches: readonly BatchKey[], landed: Held['landed'], refusal: Refused): void {
    const isNew = !this.#held.has(open.id);
    this.#held.set(open.id, { ...open, batches: new Set(batches.map(batchKey)), landed });
    // They are stored later, by no flush that the flusher sees.
    for (const batch of batches) this.#options.known?.add(batch);
    const facts = { err: refusal, flush: open.id, batches: batches.length };
    if (!isNew) return;
    this.#options.suspects.add(refusal.batches ?? batches, refusal.batches !== null);
    this.#options.log.error(facts, 'ingestion: a flush is held, because the store refuses a step of it');
  }

  /** Settles the flushes that a crash left behind. Runs at the start, before any batch is accepted. */
  async start(): Promise<void> {
    await this.#sweep(this.#isAlone ? 0 : LEASE_MS);
  }

  /**
   * Settles the flushes that other processes left behind, and retries those that are held. Call it every half
   * minute.
   */
  sweep(): Promise<void> {
    this.#sweeping ??= (this.#isAlone ? this.#repeatHeld() : this.#sweep(LEASE_MS)).finally(() => {
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
      landed?.();
    }
  }

  async #repeatHeld(): Promise<void> {
    for (const flush of [...this.#held.values()]) await this.#settle(flush);
  }

  /**
   * Settles an open flush. If its owner has not written `store`, the proposal to abandon it stands, and the
   * owner will never store it. If it has, it can no longer withdraw it.
   */
  async #settle(open: OpenFlush): Promise<void> {
    const { journal, persistence, log } = this.#options;
    const { id } = open;
    const takeOver = async () =>
      (await journal.decide(id, 'abandon')) === 'abandon' ? 'abandon' : journal.decideAgain(id, 'store');
    try {
      const verdict = open.decided ? 'store' : await persistence.until('settle flush', takeOver);
      if (verdict === 'abandon') {
        this.#held.get(id)?.landed?.();
        this.#held.delete(id);
        return;
      }
      await this.#orGiveUp(open, { batches: null, spans: null }, (progress) =>
        this.#store(open, { flush: null, refused: () => undefined, progress }),
      );
      log.info('ingestion: completed a flush that was left behind');
    } catch (error) {
      const isSettled = error instanceof Refused || (error instanceof AppError && !persistence.isStopped);
      if (!isSettled) throw error;
      log.error({ err: error, flush: id }, 'ingestion: could not complete a flush that was left behind');
    }
  }

  /**
   * Stores a flush and announces it meanwhile. A flush that the store refuses as a whole is withdrawn: its
   * senders start again, so it must not come back. A flush that may be stored in part is held, also by another process
   * that has taken it over: only its own repetition completes it without counting twice. A flush with an unknown outcome
   * stays announced: this process is about to end, or repeats it. `batches`: null to read them from the journal.
   */
  async #orGiveUp(
    open: OpenFlush,
    {
      batches,
      spans,
    }: { readonly batches: readonly BatchKey[] | null; readonly spans: readonly Span[] | null },
    store: (progress: Progress) => Promise<void>,
  ): Promise<void> {
    const { journal, persistence, underway } = this.#options;
    const { id } = open;
    const landed = this.#held.get(id)?.landed ?? underway.announce(spans);
    const progress: Progress = { isBegun: false };
    try {
      await store(progress);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const hold = async (refusal: Refused): Promise<void> => {
        const all = batches ?? (await persistence.until('batches of flush', () => journal.batchesOf(id)));
        this.#hold({ ...open, decided: true }, all, landed, refusal);
      };
      if (error.stored !== 'nothing') {
        await hold(error);
        throw error;
      }
      const isOurs = async () => this.#isAlone || (await journal.decideAgain(id, 'abandon')) === 'abandon';
      const withdrawn = async (): Promise<boolean> => {
        if (!(await isOurs())) return false;
        await journal.withdraw(id, progress.isBegun);
        return true;
      };
      const refusal = await persistence.until('withdraw flush', withdrawn).then(
        (isDone) => (isDone ? null : error),
        (refusal: unknown) => {
          if (refusal instanceof Refused) return refusal;
          throw refusal;
        },
      );
      if (refusal !== null) {
        await hold(refusal);
        throw persistence.refused('withdraw flush', { batches: error.batches, stored: 'a part' }, refusal);
      }
      this.#held.delete(id);
      landed();
      throw error;
    }
    this.#held.delete(id);
    landed();
  }

  /**
   * Tests a flush first if refusals are expected. A view refuses rows when `events` has stored them already, and the
   * flush can no longer be split then.
   */
  async #rehearse(flush: Flush): Promise<void> {
    const { journal, persistence } = this.#options;
    const trial = async () => (await journal.refusalOfEvents(flush)) ?? (await journal.refusalOfSteps(flush));
    const refusal = await persistence.alone(trial).catch(() => null);
    if (refusal === null) return;
    throw persistence.refused('rehearse flush', { ...refusal, stored: 'nothing' }, refusal.cause);
  }

  /**
   * Returns how much is stored of a flush that `events` or a view refuses. Null if neither refuses it because
   * of its content. `isUntouched`: no earlier insert can have stored rows of it.
   */
  async #trial(flush: Flush, isUntouched: boolean): Promise<Verdict | null> {
    const refusal = await this.#options.journal.refusalOfEvents(flush);
    const isNothing = refusal?.by === 'events' && isUntouched;
    return refusal === null ? null : { ...refusal, stored: isNothing ? 'nothing' : 'a part' };
  }

  /**
   * Inserts the events. When all of them are visible, commits them: from then on no answer may leave them
   * out.
   */
  async #insert(flush: Flush, turn: Turn): Promise<void> {
    const { journal, persistence } = this.#options;
    const { refused } = turn;
    const insert = (): Promise<void> => journal.insertEvents(flush.id);
    const trial = (isCertain: boolean) => this.#trial(flush, isCertain);
    await persistence.until('store flush', insert, { refused, trial, rest: 'a part' });
    turn.inserted();
    const commit = (): Promise<void> => journal.commit(flush.id, flush.hours);
    const found = async () => partOf(await journal.refusalOfSteps(flush));
    await persistence.until('commit flush', commit, { refused, trial: found, rest: 'a part' });
  }

  /**
   * Stores a flush that other processes may see. It is announced to them before its first event is visible.
   * The marks come last, and are checked before each repetition: after a long absence another process may
   * have stored the flush, and the store forgets tokens. The marks are written only while the flush's rows
   * are in the journal, because the rows were then also there during the insert. A flush without rows was
   * settled by another process. `own`: null for a flush that was found in the journal.
   */
  async #store(
    { id: flush, batch }: OpenFlush,
    {
      flush: own,
      refused,
      progress,
    }: { readonly flush: Flush | null; readonly refused: () => void; readonly progress: Progress },
  ): Promise<void> {
    const { journal, persistence } = this.#options;
    let isInserted = own === null;
    const store = async (attempt: number): Promise<boolean> => {
      if ((attempt > 0 || own === null) && (await journal.isStored(flush, batch))) return true;
      await journal.begin(flush);
      progress.isBegun = true;
      await journal.insertEvents(flush);
      isInserted = true;
      if (!(await journal.isWritten(flush))) return journal.isStored(flush, batch);
      // From the journal, if other processes may have settled the flush: a token is forgotten after a long absence.
      await journal.commit(flush, null);
      await journal.markStored([flush]);
      return true;
    };
    const trial = async (isCertain: boolean): Promise<Verdict | null> => {
      if (own === null) return { stored: 'a part', batches: null };
      if (isInserted) return partOf(await journal.refusalOfSteps(own));
      if (progress.isBegun) return this.#trial(own, isCertain);
      const refusal = isCertain ? await journal.refusalOfSteps(own) : null;
      return refusal?.by === 'ingest_begun' ? { ...refusal, stored: 'nothing' } : null;
    };
    const isStored = await persistence.until('store flush', store, { refused, trial, rest: 'a part' });
    // A flush that was found has no rows, or another process settled it: it is over.
    if (!isStored && own !== null) {
      throw new AppError('store_unavailable', 'The batch was given up. Send it again.', {
        retryAfterSeconds: 1,
      });
    }
  }
}

/** The verdict on a flush whose events are stored. */
const partOf = (refusal: FlushRefusal): Verdict | null =>
  refusal === null ? null : { ...refusal, stored: 'a part' };
