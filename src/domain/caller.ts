import { AsyncLocalStorage } from 'node:async_hooks';

/** Who waits for an answer. */
export interface Caller {
  /** Callers of the same key share one turn at the store. */
  readonly key: string;
  /** Aborted when the caller has gone: nobody needs the answer. */
  readonly signal: AbortSignal;
}

const NEVER = new AbortController().signal;
const callers = new AsyncLocalStorage<Caller>();

/** Runs `work`, and all that it starts, in the caller's name. */
export const onBehalfOf = <T>(caller: Caller, work: () => Promise<T>): Promise<T> =>
  callers.run(caller, work);

/** Undefined for what nobody waits for: start, sealing, ingestion. */
export const currentCaller = (): Caller | undefined => callers.getStore();

/**
 * Runs `work` whose result others will share: the caller who happened to come first can go away without taking it from
 * them.
 */
export function forOthersToo<T>(work: () => Promise<T>): Promise<T> {
  const caller = callers.getStore();
  return caller === undefined ? work() : callers.run({ key: caller.key, signal: NEVER }, work);
}
