import type { Request, RequestHandler, Response } from 'express';
import { type AugmentedRequest, type Options, rateLimit, type Store } from 'express-rate-limit';
import { AppError } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { hashed } from '../redis/keys.ts';
import { RedisAway, type RedisLink } from '../redis/link.ts';
import { principalOf } from './context.ts';
import { LocalWindows, SharedWindows } from './shared-windows.ts';

export interface RateLimitDeps {
  readonly requestsPerMinute: number;
  readonly replicas: number;
  /** Null: this process alone grants the whole limit. */
  readonly redis: RedisLink | null;
}

/**
 * Counts an authenticated request in its key's window of 60 s and passes exactly `requestsPerMinute`, over all processes
 * through Redis; while Redis is away, this process's share of them from memory. Refuses with `rate_limited`.
 */
export function createRateLimit({ requestsPerMinute, replicas, redis }: RateLimitDeps): RequestHandler {
  if (redis === null) return limiter(new LocalWindows(), requestsPerMinute);
  const shared = limiter(new SharedWindows(redis), requestsPerMinute);
  const local = limiter(new LocalWindows(), Math.ceil(requestsPerMinute / replicas));
  return (req, res, next) =>
    shared(req, res, (error?: unknown) => (error instanceof RedisAway ? local(req, res, next) : next(error)));
}

function limiter(store: Store, limit: number): RequestHandler {
  const count = rateLimit({
    store,
    limit,
    windowMs: MINUTE_MS,
    keyGenerator: (_req, res) => hashed(principalOf(res).keyId),
    // The library's own headers tell an epoch, or lack Retry-After.
    legacyHeaders: false,
    standardHeaders: false,
    handler: (req, res, next) => {
      const seconds = announce(req, res);
      next(
        new AppError('rate_limited', `This key may make ${limit} requests in 60 s. Wait ${seconds} s.`, {
          retryAfterSeconds: seconds,
        }),
      );
    },
    // Its checks are for the default key and print to the console.
    validate: false,
  } satisfies Partial<Options>);
  return (req, res, next) =>
    count(req, res, (error?: unknown) => {
      if (error === undefined) announce(req, res);
      next(error);
    });
}

/** Writes the three headers and returns the seconds left in the window: whole, at least 1. */
function announce(req: Request, res: Response): number {
  const { limit, remaining, resetTime } = (req as AugmentedRequest)['rateLimit'] ?? missing();
  const left = (resetTime?.getTime() ?? 0) - Date.now();
  const seconds = Math.max(1, Math.ceil(left / 1000));
  res.setHeader('X-RateLimit-Limit', limit);
  res.setHeader('X-RateLimit-Remaining', remaining);
  res.setHeader('X-RateLimit-Reset', seconds);
  return seconds;
}

const missing = (): never => {
  throw new Error('the rate limit was not counted');
};
