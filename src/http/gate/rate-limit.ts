import type { Response } from 'express';
import type { ClientRateLimitInfo, Options } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../domain/errors.ts';
import { type Clock, MINUTE_MS } from '../../domain/time.ts';
import { hashed } from '../../redis/keys.ts';
import { RedisAway, type RedisLink } from '../../redis/link.ts';
import { nextTurn } from '../request/turns.ts';
import { type LocalWindows, SharedWindows } from './shared-windows.ts';

/** A window in this process that ends later began before the clock was set back. */
const LONGEST_MS = MINUTE_MS + 1_000;

/** The most window names that are cached. */
const NAMES = 20_000;

export interface RateLimitDeps {
  readonly requestsPerMinute: number;
  readonly replicas: number;
  /** Null: this process alone grants the whole limit. */
  readonly redis: RedisLink | null;
  /** The windows in this process. */
  readonly windows: LocalWindows;
  /** Called for each request that is counted without Redis, because Redis does not answer. */
  readonly onFallback?: () => void;
  /** The machine's clock, because the libraries' windows end by it. */
  readonly wallClock: Clock;
}

/** The state of a key's window after a request was counted in it. */
export interface Counted {
  readonly limit: number;
  readonly remaining: number;
  /** The time until the window ends. */
  readonly leftMs: number;
  /** False if the window was used up before. */
  readonly passes: boolean;
}

/**
 * Counts a request in its key's window of 60 s, and passes exactly `requestsPerMinute`. Redis counts for all
 * processes; while Redis is away, each process grants its share from memory. The stores are those of
 * express-rate-limit and rate-limit-redis; the library's middleware does much more than count.
 */
export type RateLimit = (key: string) => Promise<Counted>;

export function createRateLimit({
  requestsPerMinute,
  replicas,
  redis,
  windows,
  onFallback,
  wallClock,
}: RateLimitDeps): RateLimit {
  const nameOf = windowNames();
  const own = opened(windows);
  const count = async (name: string): Promise<ClientRateLimitInfo> => {
    const counted = await own.increment(name);
    if ((counted.resetTime?.getTime() ?? 0) - wallClock() <= LONGEST_MS) return counted;
    // The clock was set back, so the window would end late.
    await own.resetKey(name);
    return own.increment(name);
  };
  if (redis === null) {
    return async (key) => {
      const counted = await count(nameOf(key));
      // Requests that wait for Redis's answers go on together. This does the same without Redis (see
      // `nextTurn`).
      await nextTurn();
      return countedOf(requestsPerMinute, counted, wallClock());
    };
  }
  const shared = opened(new SharedWindows(redis));
  const share = Math.ceil(requestsPerMinute / replicas);
  return async (key) => {
    const name = nameOf(key);
    try {
      return countedOf(requestsPerMinute, await shared.increment(name), wallClock());
    } catch (error) {
      if (!(error instanceof RedisAway)) throw error;
      onFallback?.();
      return countedOf(share, await count(name), wallClock());
    }
  };
}

function opened<T extends { init(options: Options): void }>(store: T): T {
  store.init({ windowMs: MINUTE_MS } as Options);
  return store;
}

function windowNames(): (key: string) => string {
  const names = new LRUCache<string, string>({ max: NAMES });
  return (key) => {
    const known = names.get(key);
    if (known !== undefined) return known;
    const name = hashed(key);
    names.set(key, name);
    return name;
  };
}

const countedOf = (limit: number, { totalHits, resetTime }: ClientRateLimitInfo, now: number): Counted => ({
  limit,
  remaining: Math.max(0, limit - totalHits),
  leftMs: (resetTime?.getTime() ?? 0) - now,
  passes: totalHits <= limit,
});

/** Sets the three headers. Throws `rate_limited` beyond the limit. Seconds are whole, at least 1. */
export function announce(res: Response, { limit, remaining, leftMs, passes }: Counted): void {
  const seconds = Math.max(1, Math.ceil(leftMs / 1000));
  res.setHeader('X-RateLimit-Limit', limit);
  res.setHeader('X-RateLimit-Remaining', remaining);
  res.setHeader('X-RateLimit-Reset', seconds);
  if (passes) return;
  throw new AppError('rate_limited', `This key may make ${limit} requests in 60 s. Wait ${seconds} s.`, {
    retryAfterSeconds: seconds,
  });
}
