import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { inEachHour, inRanges, ofApp } from '../clickhouse/literals.ts';
import { type Sql, sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { DAY_MS, type EpochMs, epochMs, MINUTE_MS, type Range } from '../domain/time.ts';
import { parseInstant } from './instant.ts';
import { type Correction, isId } from './validate.ts';
import type { Batch } from './wire.ts';

/** A smaller difference comes from the network, not from the clock. */
const TOLERANCE_MS = MINUTE_MS;
/** A larger difference says nothing. The events are accepted or rejected with their own times. */
const MAX_CORRECTION_MS = DAY_MS;
/** The batches of a session arrive with different delays, which rarely differ by more. */
const JITTER_MS = 10_000;
const REMEMBERED_SESSIONS = 50_000;
/** Each is named by its start and id in the statement, which must not be long. */
const SESSIONS_PER_QUERY = 100;

/** A session as its sender identifies it. */
interface Identity {
  readonly id: string;
  readonly startedAt: EpochMs;
}

const START = z.object({ place: z.number(), start: z.number() });

/** Asks for the sessions of `{ids}` that started in these ranges and are still in `sessions`. */
const storedIn = (app: AppId, ranges: readonly Range[]): Query<z.infer<typeof START>> => ({
  name: 'ingestion: stored sessions',
  sql: startsIn(
    sql`indexOf(arrayMap(id -> sipHash64(id), {ids:Array(String)}), session)`,
    sql`FROM sessions WHERE ${ofApp(app)}`,
    ranges,
  ),
  row: START,
});

/** Asks for the same sessions by their raw events, which lie within a day after the start. */
const sentIn = (app: AppId, ranges: readonly Range[]): Query<z.infer<typeof START>> => ({
  name: 'ingestion: sessions of raw events',
  sql: startsIn(
    sql`indexOf({ids:Array(String)}, session_id)`,
    sql`FROM events WHERE ${ofApp(app)} AND ${inEachHour(ranges.map(({ from, to }) => ({ from, to: epochMs(to + DAY_MS) })))}
      AND session_id IN {ids:Array(String)}`,
    ranges,
  ),
  row: START,
});

const startsIn = (place: Sql, from: Sql, ranges: readonly Range[]): Sql => sql`
    SELECT DISTINCT toUInt32(${place}) AS place, toUnixTimestamp64Milli(started_at) AS start
    ${from} AND ${inRanges(sql`started_at`, ranges)} AND place > 0`;

/** Sealed sessions that started before this may be in `events` alone. */
const keptFrom = (app: AppId): Query<{ kept: number }> => ({
  name: 'ingestion: first kept session',
  sql: sql`SELECT max(kept_from) AS kept FROM kept_sessions WHERE ${ofApp(app)}`,
  row: z.object({ kept: z.number() }),
});

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
 * Corrects clocks that are off by more than a minute and at most a day. All batches of a session need the same correction,
 * because the session's start is a part of its identity. But each batch arrives with a delay of its own, so the first
 * correction of a session is kept in memory. In another process, or after a restart, it is the difference to the session's
 * stored start: in `sessions`, or in `events` if the session is older than `sessions` keeps.
 */
export function createClockSkew(db: Database): ClockSkew {
  const remembered = new LRUCache<string, number>({ max: REMEMBERED_SESSIONS });
  const keyOf = (app: AppId, { id, startedAt }: Identity): string => `${app} ${id} ${startedAt}`;

  async function rememberStored(
    app: AppId,
    sessions: readonly Identity[],
    difference: number,
  ): Promise<void> {
    const lookUp = async (asked: readonly Identity[], queryOf: typeof storedIn): Promise<Identity[]> => {
      const ids = [...new Set(asked.map(({ id }) => id))];
      const starts = asked.flatMap(({ startedAt }) => startsOf(startedAt, difference));
      const rows = await db.query(queryOf(app, starts), { ids }, { lane: 'lookup' });
      return asked.filter((session) => {
        const ranges = startsOf(session.startedAt, difference);
        const own = rows.find(
          ({ place, start }) =>
            ids[place - 1] === session.id && ranges.some(({ from, to }) => from <= start && start <= to),
        );
        if (own !== undefined) remembered.set(keyOf(app, session), own.start - session.startedAt);
        return own === undefined;
      });
    };
    const absent = await lookUp(sessions, storedIn);
    if (absent.length === 0) return;
    // Read after `sessions`: the bound is written before sessions are deleted.
    const { kept } = await db.queryOne(keptFrom(app), {}, { lane: 'lookup' });
    const old = absent.filter(({ startedAt }) =>
      startsOf(startedAt, difference).some(({ from }) => from < kept),
    );
    if (old.length > 0) await lookUp(old, sentIn);
  }

  return {
    async correctionFor(app, { sentAt, sessions }, arrivedAt) {
      const sent = typeof sentAt === 'string' ? parseInstant(sentAt) : null;
      if (sent === null) return () => 0;
      const difference = arrivedAt - sent;
      if (mayBeCorrected(difference)) {
        const unknown = sessions
          .flatMap(identityOf)
          .filter((session) => !remembered.has(keyOf(app, session)));
        for (let i = 0; i < unknown.length; i += SESSIONS_PER_QUERY) {
          await rememberStored(app, unknown.slice(i, i + SESSIONS_PER_QUERY), difference);
        }
      }
      return (id, startedAt) => {
        const key = keyOf(app, { id, startedAt });
        const by = remembered.get(key) ?? (isCorrected(difference) ? difference : 0);
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

const isCorrected = (difference: number): boolean =>
  Math.abs(difference) > TOLERANCE_MS && Math.abs(difference) <= MAX_CORRECTION_MS;

/** Whether another batch of the session, with another delay, may have been corrected. */
const mayBeCorrected = (difference: number): boolean =>
  [-JITTER_MS, 0, JITTER_MS].some((delay) => isCorrected(difference + delay));

/** The starts that a session can be stored with: as it was sent, or corrected with another delay. */
const startsOf = (startedAt: EpochMs, difference: number): readonly Range[] => [
  { from: startedAt, to: startedAt },
  {
    from: epochMs(startedAt + difference - JITTER_MS),
    to: epochMs(startedAt + difference + JITTER_MS),
  },
];
