import { LRUCache } from 'lru-cache';
import { AppError } from '../../domain/errors.ts';
import { type Clock, type EpochMs, MINUTE_MS } from '../../domain/time.ts';

/** Failures allowed per address and window. */
const ALLOWED = 30;
/** With more addresses than this, the least recently seen are forgotten. Takes about 20 MB. */
const MAX_ADDRESSES = 100_000;

/** Counts wrong credentials per address, for the Public API and the SDK's endpoint together. */
export interface FailedAttempts {
  /**
   * Counts one wrong credential and returns the error to answer with. It is `refusal` for the first 30 within
   * 60 s from the address's first failure, and `too_many_invalid_attempts` beyond.
   */
  record(address: string, refusal: AppError): AppError;
}

export function createFailedAttempts(clock: Clock): FailedAttempts {
  const windows = new LRUCache<string, { readonly ends: EpochMs; count: number }>({ max: MAX_ADDRESSES });
  return {
    record(address, refusal) {
      const now = clock();
      let window = windows.get(address);
      if (window === undefined || window.ends <= now) {
        window = { ends: (now + MINUTE_MS) as EpochMs, count: 0 };
        windows.set(address, window);
      }
      window.count++;
      if (window.count <= ALLOWED) return refusal;
      return new AppError(
        'too_many_invalid_attempts',
        'Too many invalid credentials came from this address. Wait, then send a valid one.',
        { retryAfterSeconds: Math.max(1, Math.ceil((window.ends - now) / 1000)) },
      );
    },
  };
}
