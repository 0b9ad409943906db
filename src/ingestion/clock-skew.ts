import { LRUCache } from 'lru-cache';
import { DAY_MS, type EpochMs, MINUTE_MS } from '../domain/time.ts';
import { parseInstant } from './instant.ts';

/** A smaller difference comes from the network, not from the clock. */
const TOLERANCE_MS = MINUTE_MS;
/** A larger difference says nothing. The events are accepted or rejected with their own times. */
const MAX_CORRECTION_MS = DAY_MS;
const STEP_MS = MINUTE_MS;
const REMEMBERED_SESSIONS = 50_000;

/** Returns how far a sender's clock is behind (positive) or ahead (negative), in ms, per session. */
export type Correction = (sessionId: string, startedAt: EpochMs) => number;

export interface ClockSkew {
  /** `sentAt`: the sender's clock at sending, unchecked. */
  correctionFor(app: string, sentAt: unknown, arrivedAt: EpochMs): Correction;
}

/**
 * Corrects clocks that are off by more than a minute and at most a day, in whole minutes. All batches of a
 * session need the same correction, because the session's start is a part of its identity. Hence the first
 * correction of a session is cached. Whole minutes give the same result without the cache (in another
 * process, after a restart).
 */
export function createClockSkew(): ClockSkew {
  const remembered = new LRUCache<string, number>({ max: REMEMBERED_SESSIONS });
  return {
    correctionFor(app, sentAt, arrivedAt) {
      const sent = typeof sentAt === 'string' ? parseInstant(sentAt) : null;
      if (sent === null) return () => 0;
      const off = correctionOf(arrivedAt - sent);
      return (sessionId, startedAt) => {
        const key = `${app} ${sessionId} ${startedAt}`;
        const first = remembered.get(key);
        if (first !== undefined) return first;
        remembered.set(key, off);
        return off;
      };
    },
  };
}

function correctionOf(differenceMs: number): number {
  const size = Math.abs(differenceMs);
  if (size <= TOLERANCE_MS || size > MAX_CORRECTION_MS) return 0;
  return Math.round(differenceMs / STEP_MS) * STEP_MS;
}
