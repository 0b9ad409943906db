import { LRUCache } from 'lru-cache';
import { DAY_MS, type EpochMs, MINUTE_MS } from '../domain/time.ts';
import { parseInstant } from './instant.ts';

/** Below this a difference is the network's, not the clock's. */
const TOLERANCE_MS = MINUTE_MS;
/** A clock that is off by more tells nothing: its events are taken, or rejected, as they are. */
const MAX_CORRECTION_MS = DAY_MS;
const STEP_MS = MINUTE_MS;
const REMEMBERED_SESSIONS = 50_000;

/** How far a sender's clock is behind (positive) or ahead, in ms, per session. */
export type Correction = (sessionId: string, startedAt: EpochMs) => number;

export interface ClockSkew {
  /** `sentAt`: the sender's clock when it sent, in whatever form it came. */
  correctionFor(app: string, sentAt: unknown, arrivedAt: EpochMs): Correction;
}

/**
 * Corrects clocks that are off by more than a minute and at most a day, in whole minutes. All batches of a session
 * have to be moved alike, or its start, a part of what identifies it, would differ: so the first correction of a session
 * is remembered, and whole minutes come out the same where it is not (in another process, after a restart).
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
