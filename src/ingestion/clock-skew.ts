import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { DAY_MS, type EpochMs, MINUTE_MS } from '../domain/time.ts';
import { parseInstant } from './instant.ts';
import { type Correction, isId } from './validate.ts';
import type { Batch } from './wire.ts';

/** A smaller difference comes from the network, not from the clock. */
const TOLERANCE_MS = MINUTE_MS;
/** A larger difference says nothing. The events are accepted or rejected with their own times. */
const MAX_CORRECTION_MS = DAY_MS;
const STEP_MS = MINUTE_MS;
/** The batches of a session arrive with different delays, which rarely differ by more. */
const JITTER_MS = 10_000;
const REMEMBERED_SESSIONS = 50_000;
/** To a server, parameters travel in the URL, and not every proxy accepts long URLs. */
const SESSIONS_PER_QUERY = 100;

/** A session as its sender identifies it. */
interface Identity {
  readonly id: string;
  readonly startedAt: EpochMs;
}

const STORED: Query<{ place: number; start: number }> = {
  name: 'ingestion: stored sessions',
  sql: sql`
    SELECT DISTINCT
      toUInt32(indexOf(arrayMap(id -> sipHash64(id), {ids:Array(String)}), session)) AS place,
      toUnixTimestamp64Milli(started_at) AS start
    FROM sessions
    WHERE app_id = {app:UUID}
      AND started_at IN (SELECT fromUnixTimestamp64Milli(arrayJoin({starts:Array(Int64)}), 'UTC'))
      AND place > 0`,
  row: z.object({ place: z.number(), start: z.number() }),
};

export interface ClockSkew {
  /**
   * Returns the correction of a batch's sessions. It rejects like a question if the store must be asked and does not
   * answer. `sentAt`: the sender's clock at sending, unchecked.
   */
  correctionFor(
    app: AppId,
    batch: Pick<Batch, 'sentAt' | 'sessions'>,
    arrivedAt: EpochMs,
  ): Promise<Correction>;
}

/**
 * Corrects clocks that are off by more than a minute and at most a day, in whole minutes. All batches of a session need
 * the same correction, because the session's start is a part of its identity. Hence the first correction of a session is
 * cached. In another process or after a restart, whole minutes give the same result, unless the difference is so close to
 * the next step that the delay of a batch decides. Then the stored start of the session does.
 */
export function createClockSkew(db: Database): ClockSkew {
  const remembered = new LRUCache<string, number>({ max: REMEMBERED_SESSIONS });
  const keyOf = (app: AppId, { id, startedAt }: Identity): string => `${app} ${id} ${startedAt}`;

  async function rememberStored(
    app: AppId,
    sessions: readonly Identity[],
    corrections: readonly number[],
  ): Promise<void> {
    const ids = [...new Set(sessions.map(({ id }) => id))];
    const starts = sessions.flatMap(({ startedAt }) => corrections.map((by) => startedAt + by));
    const rows = await db.query(STORED, { app, ids, starts }, { lane: 'lookup' });
    const stored = new Set(rows.map(({ place, start }) => `${ids[place - 1]} ${start}`));
    for (const session of sessions) {
      const by = corrections.find((ms) => stored.has(`${session.id} ${session.startedAt + ms}`));
      if (by !== undefined) remembered.set(keyOf(app, session), by);
    }
  }

  return {
    async correctionFor(app, { sentAt, sessions }, arrivedAt) {
      const sent = typeof sentAt === 'string' ? parseInstant(sentAt) : null;
      if (sent === null) return () => 0;
      const difference = arrivedAt - sent;
      const usual = correctionOf(difference);
      const possible = [
        ...new Set([-JITTER_MS, 0, JITTER_MS].map((delay) => correctionOf(difference + delay))),
      ];
      if (possible.length > 1) {
        const unknown = sessions
          .flatMap(identityOf)
          .filter((session) => !remembered.has(keyOf(app, session)));
        for (let i = 0; i < unknown.length; i += SESSIONS_PER_QUERY) {
          await rememberStored(app, unknown.slice(i, i + SESSIONS_PER_QUERY), possible);
        }
      }
      return (id, startedAt) => {
        const key = keyOf(app, { id, startedAt });
        const by = remembered.get(key) ?? usual;
        remembered.set(key, by);
        return by;
      };
    },
  };
}

/** Returns a session's identity in a list, which is empty if the session has none. Such a session is rejected. */
function identityOf(session: unknown): Identity[] {
  if (typeof session !== 'object' || session === null) return [];
  const { id, startedAt: sentStart } = session as Readonly<Record<string, unknown>>;
  const startedAt = typeof sentStart === 'string' ? parseInstant(sentStart) : null;
  return isId(id) && startedAt !== null ? [{ id, startedAt }] : [];
}

function correctionOf(differenceMs: number): number {
  const size = Math.abs(differenceMs);
  if (size <= TOLERANCE_MS || size > MAX_CORRECTION_MS) return 0;
  return Math.round(differenceMs / STEP_MS) * STEP_MS;
}
