import { stoppable, wait } from './abort.ts';
import type { RateLimit } from './answers.ts';
import { Outages } from './outage.ts';
import type { PollOptions, Result } from './types.ts';

const INTERVAL_MS = 1_000;

/** An answer that is made a value only if somebody wants it. */
export interface Asked<T> {
  readonly etag: string | null;
  readonly rateLimit: RateLimit | null;
  result(): Result<T>;
}

/** Polls, and yields each result that differs from the one before. */
export function changes<T>(
  ask: (signal: AbortSignal) => Promise<Asked<T>>,
  options: PollOptions,
): AsyncGenerator<Result<T>, void, void> {
  const { intervalMs = INTERVAL_MS } = options;
  return stoppable(options.signal, async function* (signal) {
    const outages = new Outages(options);
    let known: string | null = null;
    for (;;) {
      const asked = await ask(signal).catch((error: unknown) => outages.failed(error, signal));
      if (asked === undefined) continue;
      outages.connected();
      outages.worked();
      if (asked.etag === null || asked.etag !== known) yield asked.result();
      known = asked.etag;
      await wait(Math.max(intervalMs, paceMs(asked.rateLimit)), signal);
    }
  });
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
