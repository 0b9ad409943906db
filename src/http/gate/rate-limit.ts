import type { Response } from 'express';
import type { ClientRateLimitInfo, Options } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../domain/errors.ts';
import type { KeyId } from '../../domain/ids.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { Principal } from '../../metadata/types.ts';
import { hashed } from '../../redis/keys.ts';
import { RedisAway, type RedisLink } from '../../redis/link.ts';
import { nextTurn } from '../request/turns.ts';
import { LocalWindows, SharedWindows } from './shared-windows.ts';

/** Windows whose names are remembered. */
const NAMES = 20_000;

export interface RateLimitDeps {
  readonly requestsPerMinute: number;
  readonly replicas: number;
  /** Null: this process alone grants the whole limit. */
  readonly redis: RedisLink | null;
}

export type RateLimit = (principal: Principal, res: Response) => Promise<void>;

/**
 * Counts an authenticated request in its key's window of 60 s and passes exactly `requestsPerMinute`, over all processes
 * through Redis; while Redis is away, this process's share of them from memory. Refuses with `rate_limited`. The stores
 * are those of express-rate-limit and rate-limit-redis; its middleware would ask for much more than a count.
 */
export function createRateLimit({ requestsPerMinute, replicas, redis }: RateLimitDeps): RateLimit {
  const nameOf = windowNames();
  const own = opened(new LocalWindows());
  if (redis === null) {
    return async ({ keyId }, res) => {
      const counted = await own.increment(nameOf(keyId));
      // With Redis, requests wait for its answers together; this does the same without.
      await nextTurn();
      announce(res, requestsPerMinute, counted);
    };
  }
  const shared = opened(new SharedWindows(redis));
  const share = Math.ceil(requestsPerMinute / replicas);
  return async ({ keyId }, res) => {
    const name = nameOf(keyId);
    try {
      announce(res, requestsPerMinute, await shared.increment(name));
    } catch (error) {
      if (!(error instanceof RedisAway)) throw error;
      announce(res, share, await own.increment(name));
    }
  };
}

function opened<T extends { init(options: Options): void }>(store: T): T {
  store.init({ windowMs: MINUTE_MS } as Options);
  return store;
}

function windowNames(): (key: KeyId) => string {
  const names = new LRUCache<KeyId, string>({ max: NAMES });
  return (key) => {
    const known = names.get(key);
    if (known !== undefined) return known;
    const name = hashed(key);
    names.set(key, name);
    return name;
  };
}

/** Writes the three headers; throws beyond the limit. Seconds are whole, at least 1. */
function announce(res: Response, limit: number, { totalHits, resetTime }: ClientRateLimitInfo): void {
  const left = (resetTime?.getTime() ?? 0) - Date.now();
  const seconds = Math.max(1, Math.ceil(left / 1000));
  res.setHeader('X-RateLimit-Limit', limit);
  res.setHeader('X-RateLimit-Remaining', Math.max(0, limit - totalHits));
  res.setHeader('X-RateLimit-Reset', seconds);
  if (totalHits <= limit) return;
  throw new AppError('rate_limited', `This key may make ${limit} requests in 60 s. Wait ${seconds} s.`, {
    retryAfterSeconds: seconds,
  });
}
