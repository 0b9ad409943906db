import type { PollOptions, RateLimit, Result } from './types.ts';
import { wait } from './wait.ts';

const INTERVAL_MS = 1_000;

/** Polls, and yields each result that differs from the one before. */
export async function* changes<T>(
  ask: () => Promise<Result<T>>,
  { signal, intervalMs = INTERVAL_MS }: PollOptions,
): AsyncGenerator<Result<T>, void, void> {
  let known: string | null = null;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const result = await ask();
      if (result.etag !== known) yield result;
      known = result.etag;
      await wait(Math.max(intervalMs, paceMs(result.rateLimit)), signal);
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/**
 * Spreads the rest of the window over its remaining time. All callers with a key share one window. The more
 * callers, the slower each of them polls, and none is refused.
 */
export function paceMs(rateLimit: RateLimit | null): number {
  if (rateLimit === null) return 0;
  const { remaining, resetSeconds } = rateLimit;
  return (resetSeconds * 1000) / Math.max(1, remaining);
}
