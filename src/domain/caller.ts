import { AsyncLocalStorage } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import { QUESTION_MS, Question } from './question.ts';

/** Who waits for an answer. */
export interface Caller {
  /** Callers of the same key share one turn at the store. */
  readonly key: string;
  /** Aborted when the caller has gone: nobody needs the answer. */
  readonly signal: AbortSignal;
  /** Told what each statement read in the store, where the store says so. */
  onRowsRead?(rows: number): void;
}

/** The caller with another signal. */
const ending = (caller: Caller, signal: AbortSignal): Caller => ({
  key: caller.key,
  signal,
  onRowsRead: (rows) => caller.onRowsRead?.(rows),
});

const NEVER = new AbortController().signal;
// Everything that waits for many listens to it.
setMaxListeners(0, NEVER);
const callers = new AsyncLocalStorage<Caller | undefined>();
const questions = new AsyncLocalStorage<Question | undefined>();

/** Runs `work`, and all that it starts, in the caller's name. */
export const onBehalfOf = <T>(caller: Caller, work: () => Promise<T>): Promise<T> =>
  callers.run(caller, work);

/**
 * Runs `work`, and all that it starts, as one question with one deadline; as a part of the question under way where there is one.
 * Rejects with `overloaded` at the end of its time.
 */
export function asQuestion<T>(work: (question: Question) => Promise<T>, ms = QUESTION_MS): Promise<T> {
  const underWay = questions.getStore();
  if (underWay !== undefined) return work(underWay);
  const caller = callers.getStore();
  const question = new Question(ms, caller?.signal);
  return question.answer(questions.run(question, work, question));
}

/** Undefined for what is no question: start, sealing, ingestion, and what belongs to several. */
export const currentQuestion = (): Question | undefined => questions.getStore();

/** Undefined for what nobody waits for: start, sealing, ingestion. */
export const currentCaller = (): Caller | undefined => callers.getStore();

/** One piece of work for several callers: it ends with the last of them. */
export class Shared<T> {
  readonly #ending = new AbortController();
  readonly #result: Promise<T>;
  #waiting = 0;

  /** Starts in the name of the first caller, who joins like the others. */
  constructor(work: () => Promise<T>) {
    const caller = callers.getStore();
    const { signal } = this.#ending;
    // Each of its statements listens.
    setMaxListeners(0, signal);
    this.#result = caller === undefined ? work() : callers.run(ending(caller, signal), work);
  }

  /** Nobody waits any more: too late to join. */
  get isAbandoned(): boolean {
    return this.#ending.signal.aborted;
  }

  async join(): Promise<T> {
    const signal = callers.getStore()?.signal;
    const leave = (): void => {
      this.#waiting--;
      if (this.#waiting === 0) this.#ending.abort();
    };
    this.#waiting++;
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await this.#result;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }
}

/**
 * Runs `work` whose result others will share: the caller who happened to come first can go away, and its question end, without
 * taking it from them.
 */
export function forOthersToo<T>(work: () => Promise<T>): Promise<T> {
  const caller = callers.getStore();
  const named = caller === undefined ? undefined : ending(caller, NEVER);
  return callers.run(named, () => questions.run(undefined, work));
}
