import { AsyncLocalStorage } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';

/** Who waits for an answer. */
export interface Caller {
  /** Callers of the same key share one turn at the store. */
  readonly key: string;
  /** Aborted when the caller has gone: nobody needs the answer. */
  readonly signal: AbortSignal;
  /** For a place at the store, where that differs from what is usual. */
  readonly maxWaitMs?: number;
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
const callers = new AsyncLocalStorage<Caller>();

/** Runs `work`, and all that it starts, in the caller's name. */
export const onBehalfOf = <T>(caller: Caller, work: () => Promise<T>): Promise<T> =>
  callers.run(caller, work);

/** Runs `work` with another patience than is usual: what has begun is worth waiting for. */
export function withPatience<T>(maxWaitMs: number, work: () => Promise<T>): Promise<T> {
  const caller = callers.getStore();
  return caller === undefined ? work() : callers.run({ ...ending(caller, caller.signal), maxWaitMs }, work);
}

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
 * Runs `work` whose result others will share: the caller who happened to come first can go away without taking it from
 * them.
 */
export function forOthersToo<T>(work: () => Promise<T>): Promise<T> {
  const caller = callers.getStore();
  return caller === undefined ? work() : callers.run(ending(caller, NEVER), work);
}
