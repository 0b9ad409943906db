import { AsyncLocalStorage } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import { QUESTION_MS, Question } from './question.ts';
import { currentWork, inWork, Work } from './work.ts';

/** A client that waits for an answer. */
export interface Caller {
  /** Callers with the same key share one turn at the store. */
  readonly key: string;
  /** Aborted when the caller has gone and nobody needs the answer. */
  readonly signal: AbortSignal;
  /** Called with the number of rows that each statement read, if the store reports it. */
  onRowsRead?(rows: number): void;
}

const NEVER = new AbortController().signal;
// Shared work listens to it once per piece: no limit on listeners.
setMaxListeners(0, NEVER);
const callers = new AsyncLocalStorage<Caller | undefined>();
const questions = new AsyncLocalStorage<Question | undefined>();

/** Runs `work`, and all that it starts, on behalf of the caller. */
export const onBehalfOf = <T>(caller: Caller, work: () => Promise<T>): Promise<T> =>
  callers.run(caller, work);

/**
 * Runs `work`, and all that it starts, as one question with one deadline, or as a part of the question that
 * is already running. Rejects with `overloaded` when the time is over.
 */
export function asQuestion<T>(work: (question: Question) => Promise<T>, ms = QUESTION_MS): Promise<T> {
  const underWay = questions.getStore();
  if (underWay !== undefined) return work(underWay);
  const caller = callers.getStore();
  const question = new Question(ms, caller?.signal);
  return question.answer(questions.run(question, work, question));
}

/** Undefined outside of questions: at the start, in sealing and ingestion, and in look-ups before questions. */
export const currentQuestion = (): Question | undefined => questions.getStore();

/** Undefined if no caller waits: at the start, in sealing and ingestion. */
export const currentCaller = (): Caller | undefined => callers.getStore();

/** One piece of work for several callers. It ends when the last of them has gone. */
export class Shared<T> {
  readonly #ending = new AbortController();
  readonly #result: Promise<T>;
  readonly #work: Work;
  #waiting = 0;

  /** Starts the work on behalf of the first caller, who joins like the others. */
  constructor(work: () => Promise<T>) {
    const { signal } = this.#ending;
    // Each of the work's statements listens.
    setMaxListeners(0, signal);
    const first = currentWork();
    this.#work = new Work(first?.requestId, first?.span);
    this.#result = inWork(this.#work, () => forAll(signal, work));
  }

  /** True when all callers have gone: too late to join. */
  get isAbandoned(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Notes in the work, and in the trace, of another caller who waits for this. */
  #joinedBy(work: Work | undefined): void {
    work?.waitFor(this.#work);
    const { span } = this.#work;
    if (span !== null && work?.span !== span) work?.span?.link(span);
  }

  async join(): Promise<T> {
    const signal = callers.getStore()?.signal;
    const leave = (): void => {
      this.#waiting--;
      if (this.#waiting === 0) this.#ending.abort();
    };
    this.#waiting++;
    this.#joinedBy(currentWork());
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await this.#result;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }
}

/**
 * Runs `work` whose result others will share. It goes on if the first caller goes away or its question ends. As a part
 * of a question it has the time of another one, and its statements are let in like those of the question.
 */
export function forOthersToo<T>(work: () => Promise<T>): Promise<T> {
  if (questions.getStore() === undefined) return forAll(NEVER, work);
  const own = new Question(QUESTION_MS);
  return own.answer(questions.run(own, () => forAll(NEVER, work)));
}

/**
 * Runs `work` for the current caller and others, with another signal. Everything that the work starts holds on to the
 * caller, and so do cached results. So the caller, and with it the request, is let go at the end of the work.
 */
function forAll<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let caller = callers.getStore();
  if (caller === undefined) return work();
  const { key } = caller;
  const result = callers.run({ key, signal, onRowsRead: (rows) => caller?.onRowsRead?.(rows) }, work);
  const letGo = (): void => {
    caller = undefined;
  };
  result.then(letGo, letGo);
  return result;
}
