import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import { epochMs, type Range } from '../../domain/time.ts';
import {
  type CachedSession,
  type LiveCache,
  type LiveSession,
  SLOT_MS,
  type Slot,
  slotOf,
} from '../../facts/live-sessions.ts';
import type { SessionFacts } from '../ask.ts';
import { mergedSessions } from '../merged-sessions.ts';
import type { Plan } from '../plan.ts';
import { inRanges, int, ofApp } from '../sql.ts';
import { LISTED_WORDS, WORD_COLUMNS } from './dimensions.ts';
import { NAME } from './last-visits.ts';
import { SUM_COLUMNS, sessionValues } from './session-hours.ts';

/*
 * Caches the unsealed sessions of an app whose overview is asked for repeatedly. The overview merges each
 * session of the tail for eleven lists. With the cache, only sessions with new events are merged again.
 */

/** The unsealed sessions of a range, as they are now. */
export interface LiveTail {
  readonly sessions: readonly CachedSession[];
  /** Counts the sessions by word. */
  words(): readonly (readonly [string, number])[];
}

const SLOT = z.tuple([z.number(), z.number(), z.number()]);

/**
 * Returns null if the range does not continue over the watermark, if the app was not asked about before, if
 * the tail has too many sessions, or if it begins before `keptFrom`.
 */
export async function liveTail(
  db: Database,
  cache: LiveCache,
  facts: SessionFacts,
  { tail, range, watermark }: Plan,
): Promise<LiveTail | null> {
  if (tail === null || range.from >= watermark || tail.from < facts.keptFrom) return null;
  const { app } = facts;
  const live = cache.of(app);
  if (live === null) return null;
  // Whole slots: an hour consists of a whole number of them.
  const whole = { from: tail.from, to: epochMs((slotOf(tail.to) + 1) * SLOT_MS - 1) };
  const slots = await db.rows({
    name: 'live steps',
    sql: `SELECT ${SLOT_OF_START}, sum(s.events), count() FROM sessions AS s
WHERE ${ofApp(app)} AND ${inRanges('s.started_at', [whole])} GROUP BY 1`,
    row: SLOT,
  });
  if (slots.reduce((sum, [, , rows]) => sum + rows, 0) > cache.mostSessions) return null;
  const found: Slot[] = [];
  const changed: number[] = [];
  for (const [number, events] of slots) {
    const known = live.slot(number, events);
    if (known === undefined) changed.push(number);
    else found.push(known);
  }
  if (changed.length > 0) found.push(...live.keep(changed, await readSlots(db, facts, changed)));
  live.forgetBefore(watermark);
  cache.keep(app, live);
  const sessions = found.flatMap((slot) => slot.sessions).filter(({ startedAt }) => startedAt <= tail.to);
  return { sessions, words: () => live.countWords(sessions) };
}

const SLOT_OF_START = `intDiv(toUnixTimestamp64Milli(s.started_at), ${SLOT_MS})`;

const SESSION = z.tuple([z.number(), z.number(), z.string(), z.array(z.string())]).rest(z.number());

/** Merges all sessions of these slots. */
async function readSlots(
  db: Database,
  facts: SessionFacts,
  slots: readonly number[],
): Promise<LiveSession[]> {
  const sorted = [...slots].sort((a, b) => a - b);
  const range: Range = {
    from: epochMs((sorted[0] ?? 0) * SLOT_MS),
    to: epochMs(((sorted.at(-1) ?? 0) + 1) * SLOT_MS - 1),
  };
  const changed = `${SLOT_OF_START} IN (${sorted.map(int).join(', ')})`;
  const rows = await db.rows(
    {
      name: 'live sessions',
      sql: `SELECT toUnixTimestamp64Milli(started_at), events, ${NAME}, ${LISTED_WORDS}, ${SUM_COLUMNS.join(', ')}
FROM (${mergedSessions(facts, range, ['events', 'visitor', ...SUM_COLUMNS, ...WORD_COLUMNS], changed)})`,
      row: SESSION,
    },
    { parallel: true },
  );
  return rows.map(([startedAt, events, visitor, words, ...values]) => ({
    startedAt,
    events,
    visitor,
    words,
    ...sessionValues(values),
  }));
}
