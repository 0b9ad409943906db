import type { HeldFlushes } from './held-flushes.ts';
import type { Journal } from './journal.ts';
import type { TriedFlush } from './rehearsal.ts';
import { type Finding, type Persistence, Refused } from './retry.ts';

/** The delay and the number of batches after which marks are written together. */
const AFTER_MS = 100;
const MOST_UNMARKED = 5_000;

interface MarksOptions {
  readonly journal: Journal;
  readonly persistence: Persistence;
  readonly held: HeldFlushes;
}

/** Marks the batches of stored flushes. Nobody waits for these marks: only later processes need them. */
export class Marks {
  readonly #options: MarksOptions;
  /** Flushes that lack only their marks. */
  readonly #unmarked: TriedFlush[] = [];
  #batches = 0;
  #marking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: MarksOptions) {
    this.#options = options;
  }

  later(flush: TriedFlush): void {
    this.#unmarked.push(flush);
    this.#batches += flush.batches.length;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      // A mark that fails for good is written at the next start.
      this.all().catch(() => undefined);
    }, AFTER_MS).unref();
  }

  /** Limits the marks that are known to this process only. Call it before the next flush. */
  async keepUp(): Promise<void> {
    if (this.#batches > MOST_UNMARKED) await this.all();
  }

  /** Resolves when every stored flush is marked. */
  all(): Promise<void> {
    this.#marking ??= this.#mark().finally(() => {
      this.#marking = null;
    });
    return this.#marking;
  }

  async #mark(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (let [first, ...more] = this.#unmarked; first !== undefined; [first, ...more] = this.#unmarked) {
      const batches = this.#batches;
      await this.#together([first, ...more]);
      this.#unmarked.splice(0, more.length + 1);
      this.#batches -= batches;
    }
  }

  /** Marks flushes. If the store refuses that, each is marked alone, and those that are refused then are held. */
  async #together(flushes: readonly [TriedFlush, ...TriedFlush[]]): Promise<void> {
    const { journal, persistence, held } = this.#options;
    const [first, ...more] = flushes;
    const ids: readonly [string, ...string[]] = [first.id, ...more.map(({ id }) => id)];
    // Each has its turn alone, which shows the batches that are the reason.
    const trial = async (): Promise<Finding | null> => {
      const refusal = more.length > 0 ? null : await journal.refusalOfSteps(first);
      return refusal === null ? null : { ...refusal, stored: 'a part' };
    };
    try {
      await persistence.until('mark flushes', () => journal.markStored(ids), { trial });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const [{ id, batches }] = flushes;
      const [batch] = batches;
      if (more.length > 0) for (const flush of flushes) await this.#together([flush]);
      else if (batch !== undefined) held.add({ id, batch, decided: true }, batches, null, error);
    }
  }
}
