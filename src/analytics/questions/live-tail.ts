import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import { epochMs, type Range } from '../../domain/time.ts';
import {
  type KeptSession,
  type LiveCache,
  type LiveSession,
  STEP_MS,
  type Step,
  stepOf,
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
  readonly sessions: readonly KeptSession[];
  /** Counts the sessions by word. */
  words(): readonly (readonly [string, number])[];
}

const STEP = z.tuple([z.number(), z.number(), z.number()]);

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
  // Whole steps: an hour consists of a whole number of them.
  const whole = { from: tail.from, to: epochMs((stepOf(tail.to) + 1) * STEP_MS - 1) };
  const steps = await db.rows({
    name: 'live steps',
    sql: `SELECT ${STEP_OF_START}, sum(s.events), count() FROM sessions AS s
WHERE ${ofApp(app)} AND ${inRanges('s.started_at', [whole])} GROUP BY 1`,
    row: STEP,
  });
  if (steps.reduce((sum, [, , rows]) => sum + rows, 0) > cache.mostSessions) return null;
  const found: Step[] = [];
  const changed: number[] = [];
  for (const [number, events] of steps) {
    const known = live.step(number, events);
    if (known === undefined) changed.push(number);
    else found.push(known);
  }
  if (changed.length > 0) found.push(...live.keep(changed, await readSteps(db, facts, changed)));
  live.forgetBefore(watermark);
  cache.keep(app, live);
  const sessions = found.flatMap((step) => step.sessions).filter(({ startedAt }) => startedAt <= tail.to);
  return { sessions, words: () => live.countWords(sessions) };
}

const STEP_OF_START = `intDiv(toUnixTimestamp64Milli(s.started_at), ${STEP_MS})`;

const SESSION = z.tuple([z.number(), z.number(), z.string(), z.array(z.string())]).rest(z.number());

/** Merges all sessions of these steps. */
async function readSteps(
  db: Database,
  facts: SessionFacts,
  steps: readonly number[],
): Promise<LiveSession[]> {
  const sorted = [...steps].sort((a, b) => a - b);
  const range: Range = {
    from: epochMs((sorted[0] ?? 0) * STEP_MS),
    to: epochMs(((sorted.at(-1) ?? 0) + 1) * STEP_MS - 1),
  };
  const changed = `${STEP_OF_START} IN (${sorted.map(int).join(', ')})`;
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
