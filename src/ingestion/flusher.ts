import { randomUUID } from 'node:crypto';
import type { Underway } from '../clickhouse/underway.ts';
import { AppError } from '../domain/errors.ts';
import type { BatchBuffer, Waiting } from './batch-buffer.ts';
import { batchKey } from './batch-key.ts';
import type { HeldFlushes, Landed } from './held-flushes.ts';
import type { Claim, Flush, Journal } from './journal.ts';
import type { OpenFlush } from './journal-sql.ts';
import type { KnownBatches } from './known-batches.ts';
import { mergedHours, spansOf } from './ledger-rows.ts';
import { Marks } from './marks.ts';
import { notNow, rejectAll } from './refused-batches.ts';
import type { Refusal } from './rehearsal.ts';
import { type Finding, type Persistence, Refused, type RefusedRest } from './retry.ts';

/** A flush that is stored, and the time from its first step on. */
export interface StoredFlush {
  readonly batches: number;
  readonly events: number;
  readonly ms: number;
}

export interface FlusherOptions {
  readonly journal: Journal;
  readonly persistence: Persistence;
  readonly held: HeldFlushes;
  readonly underway: Underway;
  /** Called when a flush is stored. */
  readonly onFlush?: (flush: StoredFlush) => void;
  /** Null if other processes are on the store: one of them may claim a batch. */
  readonly known: KnownBatches | null;
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
  /** The number of the last step that is done. */
  done: 0 | 1 | 3 | 4 | 5;
  landed: Landed;
}

/**
 * Stores flushes: batches of one shard's apps in one insert, each exactly once. The steps of a flush:
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
 * If the outcome of a step is unknown, the step is repeated unchanged until it succeeds; its flush waits for
 * it. If a process dies after step 3, the next process completes the flush. If it dies earlier, it leaves
 * only a claim, which is abandoned.
 *
 * If the store refuses a step because of the flush's content, copies of the tables that keep nothing tell which rows are
 * the reason (rehearsal.ts). A flush of which nothing is stored is withdrawn: its senders start again, so it must not come
 * back. A flush of which a part may be stored is held, also by another process that has taken it over: only its own
 * repetition, with its own token, completes it without counting twice. This is so if the store refuses a later step, or if
 * a view refuses rows that `events` has accepted.
 */
export class Flusher {
  readonly #options: FlusherOptions;
  /** Of flushes that this process has stored. */
  readonly marks: Marks;

  constructor(options: FlusherOptions) {
    this.#options = options;
    this.marks = new Marks(options);
  }

  /**
   * The life of a flush, by the numbers of its steps. Throws Refused in two cases: nothing of the flush is stored nor ever
   * will be, or a part may be stored and the flush is held. `buffer`: takes batches that start again.
   */
  async flush(group: readonly Waiting[], turn: Turn, buffer: Buffer): Promise<void> {
    const { journal, persistence, underway, known, onFlush } = this.#options;
    const isAlone = known !== null;
    const started = performance.now();
    const batches = await this.#withoutStored(group, turn);
    const [first] = batches;
    if (first === undefined) return;
    const flush = flushOf(batches);
    const { id, hours } = flush;
    const open = { id, batch: { app: first.app, batch: first.batch }, decided: isAlone };
    const progress: Progress = { done: 0, landed: null };
    const step = <T>(name: string, statement: (attempt: number) => Promise<T>): Promise<T> =>
      persistence.until(name, statement, {
        refused: turn.refused,
        trial: (isCertain) => this.#trial(flush, progress, isCertain),
        rest: progress.done < 3 ? 'unproven' : 'a part',
      });
    try {
      await step('claim', () => journal.claim(flush, isAlone)); // 1
      if (!isAlone) {
        progress.done = 1;
        const claims = await step('look up claims', () => journal.claims(id)); // 2
        const refusals = await refusalsOf(batches);
        const proposal = claims.length === 0 && refusals.size === 0 ? 'store' : 'abandon';
        const verdict = await step('decide', () => journal.decide(id, proposal)); // 3
        if (verdict === 'abandon') return startAgain(batches, { claims, refusals }, buffer);
      }
      progress.done = isAlone ? 4 : 3;
      progress.landed = underway.announce(spansOf(hours)); // 4, in memory
      if (turn.isSuspected) await this.#rehearse(flush);
      if (isAlone) {
        await step('store flush', () => journal.insertEvents(id)); // 5
        progress.done = 5;
        turn.inserted();
        await step('commit flush', () => journal.commit(id, hours)); // 6
        this.marks.later(counted(flush)); // 7
      } else {
        const isStored = await step('store flush', (n) => this.#store(open, progress, n > 0)); // 4 to 7
        if (!isStored) throw givenUp();
      }
    } catch (error) {
      throw error instanceof Refused ? await this.#giveUp(flush, open, progress, error) : error;
    }
    progress.landed?.();
    for (const batch of batches) batch.resolve('stored');
    const events = batches.reduce((sum, batch) => sum + batch.events, 0);
    onFlush?.({ batches: batches.length, events, ms: performance.now() - started });
  }

  /**
   * Steps 4 to 7 of a flush that other processes may see, which are repeated together. After a long absence another process
   * may have stored the flush, and the store forgets tokens. So the marks come last, and are looked up before each
   * repetition. They are written only while the flush's rows are in the journal, because the rows were then also there during
   * the insert. False if another process gave the flush up.
   */
  async #store({ id, batch }: OpenFlush, progress: Progress, isRepeated: boolean): Promise<boolean> {
    const { journal } = this.#options;
    if (isRepeated && (await journal.isStored(id, batch))) return true;
    await journal.begin(id); // 4
    if (progress.done < 4) progress.done = 4;
    await journal.insertEvents(id); // 5
    progress.done = 5;
    if (!(await journal.isWritten(id))) return journal.isStored(id, batch);
    // From the journal, if other processes may have settled the flush: a token is forgotten after a long absence.
    await journal.commit(id, null); // 6
    await journal.markStored([id]); // 7
    return true;
  }

  /**
   * Stores a flush of the journal that has the verdict `store`, from step 4 on: one that a dead process left behind, or one
   * that is held. If it is not in the journal any more, another process settled it.
   */
  async complete(open: OpenFlush): Promise<void> {
    const { journal, persistence, underway, known, held } = this.#options;
    const { id } = open;
    const landed = held.get(id)?.landed ?? underway.announce(null);
    const progress: Progress = { done: 3, landed };
    const store = () => this.#store(open, progress, true);
    const trial = async (): Promise<Finding> => ({ stored: 'a part', batches: null });
    try {
      await persistence.until('store flush', store, { trial, rest: 'a part' });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const batches = await persistence.until('batches of flush', () => journal.batchesOf(id));
      for (const batch of batches) known?.add(batch);
      held.add({ ...open, decided: true }, batches, landed, error);
      throw error;
    }
    held.end(id, landed);
  }

  /** Returns the batches that are not stored yet, as far as this process knows, and answers the others. */
  async #withoutStored(group: readonly Waiting[], { refused }: Turn): Promise<readonly Waiting[]> {
    const { journal, persistence, known, held } = this.#options;
    // The journal holds their rows already.
    const inHeld = group.filter((batch) => held.have(batch));
    rejectAll(inHeld, notNow());
    const free = group.filter((batch) => !inHeld.includes(batch));
    if (known === null) return free;
    const possible = free.filter((batch) => known.mayHold(batch));
    for (const batch of free) known.add(batch);
    if (possible.length === 0) return free;
    const stored = await persistence.until('look up batches', () => journal.storedOf(possible), { refused });
    return free.filter((batch) => {
      const isStored = stored.has(batchKey(batch));
      if (isStored) batch.resolve('duplicate');
      return !isStored;
    });
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
   * Finds out whether the store refuses the step after `done` because of the rows, and how much of the flush is stored then.
   * `isCertain`: see `Persistence.until`.
   */
  async #trial(flush: Flush, { done }: Progress, isCertain: boolean): Promise<Finding | null> {
    const { journal } = this.#options;
    if (done === 0) return isCertain ? findingOf(await journal.refusalOfClaim(flush), 'nothing') : null;
    if (done === 1) return null;
    if (done === 3) {
      const refusal = isCertain ? await journal.refusalOfSteps(flush) : null;
      return refusal?.by === 'ingest_begun' ? findingOf(refusal, 'nothing') : null;
    }
    if (done === 4) {
      const refusal = await journal.refusalOfEvents(flush);
      return findingOf(refusal, refusal?.by === 'events' && isCertain ? 'nothing' : 'a part');
    }
    return findingOf(await journal.refusalOfSteps(flush), 'a part');
  }

  /** Withdraws or holds a flush that the store refuses. Returns the error to throw. */
  async #giveUp(flush: Flush, open: OpenFlush, progress: Progress, refusal: Refused): Promise<Refused> {
    const { journal, persistence, known, held } = this.#options;
    const { done, landed } = progress;
    const hold = (reason: Refused): void =>
      held.add({ ...open, decided: open.decided || done >= 3 }, flush.batches, landed, reason);
    // The journal does not hold the flush.
    if (done === 0 && refusal.stored !== 'a part') return refusal;
    if (done < 3 || refusal.stored !== 'nothing') {
      hold(refusal);
      return refusal;
    }
    const withdraw = async (): Promise<Refused | null> => {
      const isOurs = known !== null || (await journal.decideAgain(open.id, 'abandon')) === 'abandon';
      if (!isOurs) return refusal;
      await journal.withdraw(open.id, done >= 4);
      return null;
    };
    const reason = await persistence.until('withdraw flush', withdraw).catch((error: unknown) => {
      if (error instanceof Refused) return error;
      throw error;
    });
    if (reason === null) {
      landed?.();
      return refusal;
    }
    hold(reason);
    return persistence.refused('withdraw flush', { batches: refusal.batches, stored: 'a part' }, reason);
  }
}

type Buffer = Pick<BatchBuffer, 'park' | 'putBack'>;

const flushOf = (group: readonly Waiting[]): Flush => ({
  id: randomUUID(),
  batches: group.map(({ app, batch, rows }) => ({ app, batch, rows })),
  hours: mergedHours(group.flatMap(({ hours }) => hours)),
});

/** Returns the flush with the number of its rows instead of the rows: a trial needs no more. */
const counted = ({ id, batches }: Flush) => ({
  id,
  batches: batches.map(({ rows: { length }, ...key }) => ({ ...key, rows: { length } })),
});

const findingOf = (refusal: Refusal, stored: RefusedRest): Finding | null =>
  refusal === null ? null : { ...refusal, stored };

const givenUp = (): AppError =>
  new AppError('store_unavailable', 'The batch was given up. Send it again.', { retryAfterSeconds: 1 });

/** Returns the batches that must not be stored after all, with the reasons. */
async function refusalsOf(group: readonly Waiting[]): Promise<ReadonlyMap<Waiting, unknown>> {
  const refusals = new Map<Waiting, unknown>();
  await Promise.all(
    group.map((batch) => batch.check?.().catch((error: unknown) => refusals.set(batch, error))),
  );
  return refusals;
}

/** Answers the batches of an abandoned flush that are stored or refused. The others start again. */
function startAgain(
  group: readonly Waiting[],
  found: { readonly claims: readonly Claim[]; readonly refusals: ReadonlyMap<Waiting, unknown> },
  buffer: Buffer,
): void {
  const { claims, refusals } = found;
  const stored = new Set(claims.filter((claim) => claim.stored).map(({ key }) => key));
  const claimed = new Set(claims.map(({ key }) => key));
  const free: Waiting[] = [];
  for (const batch of group) {
    const key = batchKey(batch);
    if (refusals.has(batch)) rejectAll([batch], refusals.get(batch));
    else if (stored.has(key)) batch.resolve('duplicate');
    else if (claimed.has(key)) buffer.park(batch);
    else free.push(batch);
  }
  buffer.putBack(free);
}
