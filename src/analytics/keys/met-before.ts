import { listOf, number, rowOf, text } from '../../clickhouse/row.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import { DAY_MS, epochMs, type Range } from '../../domain/time.ts';
import type { PageFacts } from '../input/app-facts.ts';
import { rowsForMemory } from '../memory/rows.ts';
import type { Plan } from '../range/plan.ts';
import { eventsIn, insertedUntil, instant, int, ofApp } from '../range/sql.ts';
import { latePairs, pairsOf } from './late.ts';
import { EVERYTHING, type KeyGroup, onlySessions, PAIRED, pairOf } from './pieces.ts';

/*
 * Corrects sessions that begin before the tail and continue in it: if a pair occurs on both sides, both count
 * it, so one is subtracted. The pairs of such a session before the tail, which are sealed, are read once and
 * kept, unless events of the session are late.
 */

const STARTED = sql`toUnixTimestamp64Milli(started_at)`;
/** SQL of a session's start (epoch ms) and id, as one text. */
const SESSION = sql`concat(toString(${STARTED}), ' ', session_id)`;

/**
 * SQL of the sessions that began before the tail, over its events; and SQL condition on the events of these sessions
 * whose pairs count. Null if no pair can be on both sides: it is not counted, or the tail is the whole range.
 */
export function continuing(
  { until }: PageFacts,
  tail: Range,
  { paired }: KeyGroup,
): { readonly session: Sql; readonly where: Sql } | null {
  if (paired === null || tail.from > until) return null;
  return {
    session: SESSION,
    where: sql`${paired} AND started_at < ${instant(tail.from)}`,
  };
}

/** Limit of session starts in the text of a statement. */
const MOST_STARTS = 2_000;

const startedAt = (starts: readonly number[]): Sql => sql`${STARTED} IN (${join(starts.map(int))})`;

const PAIR = rowOf([text, listOf(text)]);
const MET = rowOf([text, text, number]);

/** A pair on both sides of the start of a tail. */
export interface Met {
  readonly pair: string;
  /** Its last occurrence before the tail, epoch ms. */
  readonly last: number;
}

/**
 * Returns the pairs that occur in the range on both sides of the start of the plan's tail, once for each session.
 * Throws `TooLarge` if that takes too much memory.
 */
export async function metBefore(facts: PageFacts, { range, tail }: Plan, group: KeyGroup): Promise<string[]> {
  const sought = tail === null ? null : continuing(facts, tail, group);
  if (tail === null || sought === null) return [];
  const pairs = await rowsForMemory(facts.db, {
    name: 'sessions that continue',
    sql: sql`SELECT ${pairOf(group)} AS pair, groupUniqArray(${sought.session}) FROM events
WHERE ${ofApp(facts.app)} AND ${eventsIn([tail])} AND ${sought.where} GROUP BY pair`,
    row: PAIR,
  });
  return metIn(await metOf(facts, pairs, group), range);
}

/** SQL of rows that subtract the same pairs. It reads the events of a day. Null if there are no such pairs. */
export function metRows(facts: PageFacts, { range, tail }: Plan, group: KeyGroup): Sql | null {
  const sought = tail === null ? null : continuing(facts, tail, group);
  if (tail === null || sought === null) return null;
  // A session lasts at most 24 h.
  const around = { from: epochMs(Math.max(range.from, tail.from - DAY_MS)), to: tail.to };
  return sql`
SELECT kind, key, ${onlySessions(sql`-toInt64(count())`)}
FROM (
    SELECT ${group.kind} AS kind, ${group.key} AS key FROM events
    WHERE ${ofApp(facts.app)} AND ${eventsIn([around])} AND ${sought.where}
        AND (timestamp >= ${instant(tail.from)} OR ${insertedUntil(facts.heldUntil)})
    GROUP BY kind, key, session_id, started_at
    HAVING min(timestamp) < ${instant(tail.from)} AND max(timestamp) >= ${instant(tail.from)})
GROUP BY kind, key`;
}

/** The pairs that occur in the range before the tail. */
export const metIn = (met: readonly Met[], range: Range): string[] =>
  met.filter(({ last }) => last >= range.from).map(({ pair }) => pair);

/** Looks up which of the pairs of the tail occurred before it, in the same session. */
export async function metOf(
  facts: PageFacts,
  pairs: readonly (readonly [pair: string, sessions: readonly string[]])[],
  group: KeyGroup,
): Promise<Met[]> {
  const sessions = [...new Set(pairs.flatMap(([, own]) => own))];
  if (group.paired === null || sessions.length === 0) return [];
  const before = await pairsBefore(facts, sessions);
  return pairs.flatMap(([pair, own]) =>
    own.flatMap((session) => {
      const last = before(session)?.get(pair);
      return last === undefined ? [] : { pair, last };
    }),
  );
}

const startOf = (session: string): number => Number(session.slice(0, session.indexOf(' ')));

/** The pairs of each session before the watermark, each with its last occurrence (epoch ms). */
type PairsBefore = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Returns these pairs by session. They are kept. Those of sessions with late events come from the list of their events. */
async function pairsBefore(
  facts: PageFacts,
  sessions: readonly string[],
): Promise<(session: string) => ReturnType<PairsBefore['get']>> {
  const asked = new Set(sessions);
  const late = new Map(
    (await latePairs(facts)).flatMap((each) => (asked.has(each.name) ? [[each.name, pairsOf(each)]] : [])),
  );
  const kept = await facts.cache.recallEach<ReadonlyMap<string, number>>(
    `met before ${facts.app}`,
    sessions.filter((session) => !late.has(session)),
    (unknown) => readPairs(facts, unknown),
    (pairs) => 3 * pairs.size,
  );
  return (session) => late.get(session) ?? kept.get(session);
}

/** Reads the pairs of these sessions, of all kinds, so that all questions share them. None of the sessions has late events. */
async function readPairs(
  { db, app, until, heldUntil }: PageFacts,
  sessions: readonly string[],
): Promise<PairsBefore> {
  const met = new Map(sessions.map((session) => [session, new Map<string, number>()]));
  for (let at = 0; at < sessions.length; at += MOST_STARTS) {
    const starts = sessions.slice(at, at + MOST_STARTS).map(startOf);
    const sealed = { from: epochMs(Math.min(...starts)), to: epochMs(until - 1) };
    const rows = await rowsForMemory(db, {
      name: 'met before',
      sql: sql`SELECT ${SESSION} AS session, ${pairOf(EVERYTHING)} AS pair, max(toUnixTimestamp64Milli(timestamp))
FROM events WHERE ${ofApp(app)} AND ${PAIRED} AND ${eventsIn([sealed])} AND ${startedAt(starts)}
    AND ${insertedUntil(heldUntil)}
GROUP BY session, pair`,
      row: MET,
    });
    for (const [session, pair, last] of rows) met.get(session)?.set(pair, last);
  }
  return met;
}
