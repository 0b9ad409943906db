import { z } from 'zod';
import { join, type Sql, sql } from '../clickhouse/sql.ts';
import type { AppId } from '../domain/ids.ts';
import { DAY_MS, epochMs, HOUR_MS, type Range } from '../domain/time.ts';
import type { PageFacts } from './ask.ts';
import { type KeyGroup, pairOf } from './key-rows.ts';
import type { Plan } from './plan.ts';
import { eventsIn, instant, int, ofApp } from './sql.ts';

/*
 * Corrects sessions that begin before the tail and continue in it: if a pair occurs on both sides, both count
 * it, so one is subtracted. The pairs of such a session before the tail, which are sealed, are read once and
 * kept.
 */

const STARTED = sql`toUnixTimestamp64Milli(started_at)`;

/** Events in the tail of sessions that began before it. */
const continuing = (app: AppId, tail: Range, paired: Sql): Sql =>
  sql`FROM events WHERE ${ofApp(app)} AND ${paired} AND ${eventsIn([tail])} AND started_at < ${instant(tail.from)}`;

/** Limit of session starts in the text of a statement. */
const MOST_STARTS = 2_000;

const startedAt = (starts: readonly number[]): Sql => sql`${STARTED} IN (${join(starts.map(int))})`;

const SESSION = z.tuple([z.number(), z.string(), z.array(z.string())]);
const MET = z.tuple([z.number(), z.string(), z.string(), z.number()]);

/** A pair on both sides of the start of a tail. */
export interface Met {
  readonly pair: string;
  /** Its last occurrence before the tail, epoch ms. */
  readonly last: number;
}

/** Returns the pairs that are on both sides of the start of the plan's tail, once for each session. */
export const metBefore = async (
  facts: PageFacts,
  { range, tail }: Plan,
  group: KeyGroup,
): Promise<string[]> => (tail === null ? [] : metIn(await readMet(facts, tail, group), range));

/** The pairs that occur in the range before the tail. */
export const metIn = (met: readonly Met[], range: Range): string[] =>
  met.filter(({ last }) => last >= range.from).map(({ pair }) => pair);

/** Reads the pairs of the group that are on both sides of the start of the tail, whatever lies between. */
export async function readMet(facts: PageFacts, tail: Range, group: KeyGroup): Promise<Met[]> {
  const { paired } = group;
  // A tail that begins later is the whole range.
  if (paired === null || tail.from > facts.until) return [];
  const sessions = await facts.db.rows({
    name: 'sessions that continue',
    sql: sql`SELECT ${STARTED}, session_id, groupUniqArray(${pairOf(group)}) ${continuing(facts.app, tail, paired)}
GROUP BY started_at, session_id`,
    row: SESSION,
  });
  if (sessions.length === 0) return [];
  const names = sessions.map(([started, id]) => sessionOf(started, id));
  const before = await pairsBefore(facts, names, group, paired);
  return sessions.flatMap(([started, id, met]) => {
    const own = before.get(sessionOf(started, id));
    return met.flatMap((pair) => {
      const last = own?.get(pair);
      return last === undefined ? [] : { pair, last };
    });
  });
}

const sessionOf = (started: number, id: string): string => `${started} ${id}`;
const startOf = (session: string): number => Number(session.slice(0, session.indexOf(' ')));

/** Returns the pairs of each session before the watermark, each with its last occurrence (epoch ms). */
const pairsBefore = (
  { db, app, until, events }: PageFacts,
  sessions: readonly string[],
  group: KeyGroup,
  paired: Sql,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> =>
  events.of([{ start: until - DAY_MS - HOUR_MS, end: until }]).recallEach<ReadonlyMap<string, number>>(
    `met before ${app} ${paired} ${int(until)}`,
    sessions,
    async (unknown) => {
      const met = new Map(unknown.map((session) => [session, new Map<string, number>()]));
      for (let at = 0; at < unknown.length; at += MOST_STARTS) {
        const starts = unknown.slice(at, at + MOST_STARTS).map(startOf);
        const sealed = { from: epochMs(Math.min(...starts)), to: epochMs(until - 1) };
        const rows = await db.rows({
          name: 'met before',
          sql: sql`SELECT ${STARTED} AS started, session_id, ${pairOf(group)} AS pair, max(toUnixTimestamp64Milli(timestamp))
FROM events WHERE ${ofApp(app)} AND ${paired} AND ${eventsIn([sealed])} AND ${startedAt(starts)}
GROUP BY started, session_id, pair`,
          row: MET,
        });
        for (const [started, session, pair, last] of rows) {
          met.get(sessionOf(started, session))?.set(pair, last);
        }
      }
      return met;
    },
    (pairs) => 3 * pairs.size,
  );
