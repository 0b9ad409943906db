import { setMaxListeners } from 'node:events';
import { AppError } from './errors.ts';

/** The longest that a question takes, the wait for its turn included. */
export const QUESTION_MS = 45_000;

/** One question, from its beginning to its end, with all statements that it sends. */
export class Question {
  /** By the clock of `performance.now()`, which nobody sets. */
  readonly #endsAt: number;
  readonly #ended = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #statements = new Set<Promise<unknown>>();
  readonly #end = (): void => this.#ended.abort();

  constructor(ms: number, caller?: AbortSignal) {
    this.#endsAt = performance.now() + ms;
    this.#caller = caller;
    // Each of its statements listens.
    setMaxListeners(0, this.signal);
    caller?.addEventListener('abort', this.#end, { once: true });
    if (caller?.aborted) this.#end();
  }

  /** Aborted when the question is answered, has failed, is out of time, or when nobody waits for it any more. */
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

  /** The answer, or `overloaded` at the end of its time. Ends the question. */
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

  /** Runs one of its statements. */
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

  /** Resolves when none of its statements runs any more: an embedded engine does not end them with the question. */
  async settled(): Promise<void> {
    while (this.#statements.size > 0) await Promise.all(this.#statements);
  }
}

const late = (): AppError =>
  new AppError(
    'overloaded',
    'The question takes too long. Ask for a shorter range, or try again when less is asked.',
    { retryAfterSeconds: 5 },
  );
