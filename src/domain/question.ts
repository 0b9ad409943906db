import { setMaxListeners } from 'node:events';
import { AppError } from './errors.ts';

/** The longest time for a question, its wait for a turn included. */
export const QUESTION_MS = 45_000;

/** One question with all statements that it sends, from its start to its end. */
export class Question {
  /** By `performance.now()`, which no change of the system's clock moves. */
  readonly #endsAt: number;
  readonly #ended = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #statements = new Set<Promise<unknown>>();
  readonly #end = (): void => this.#ended.abort();

  constructor(ms: number, caller?: AbortSignal) {
    this.#endsAt = performance.now() + ms;
    this.#caller = caller;
    // Each of the question's statements listens.
    setMaxListeners(0, this.signal);
    caller?.addEventListener('abort', this.#end, { once: true });
    if (caller?.aborted) this.#end();
  }

  /** Aborted when the question is answered, has failed, is out of time, or has lost all its callers. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** At least 0. */
  get msLeft(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** Throws `overloaded` once its time is over. */
  throwIfLate(): void {
    if (this.msLeft === 0) throw late();
  }

  /**
   * Resolves to the result of `work`, or rejects with `overloaded` at the end of its time. Ends the question.
   */
  async answer<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const end = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(late()), this.msLeft);
    });
    try {
      const answer = await Promise.race([work, end]);
      this.throwIfLate();
      return answer;
    } finally {
      clearTimeout(timer);
      this.#caller?.removeEventListener('abort', this.#end);
      this.#end();
    }
  }

  /** Runs one of the question's statements. */
  async statement<T>(run: () => Promise<T>): Promise<T> {
    const statement = run();
    const settled = statement.catch(() => undefined);
    this.#statements.add(settled);
    try {
      return await statement;
    } finally {
      this.#statements.delete(settled);
    }
  }

  /**
   * Resolves when no statement of the question runs any more. The embedded engine does not cancel statements.
   */
  async settled(): Promise<void> {
    while (this.#statements.size > 0) await Promise.all(this.#statements);
  }
}

const late = (): AppError =>
  new AppError('overloaded', 'The question takes too long. Ask for a shorter range, or try again later.', {
    retryAfterSeconds: 5,
  });
