import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, epochMs, HOUR_MS, type Range } from '../../domain/time.ts';
import type { PageFacts } from '../ask.ts';
import type { Plan } from '../plan.ts';
import { eventsIn, instant, int, ofApp } from '../sql.ts';

/*
 * Corrects sessions that begin before the tail and continue in it: if a pair occurs on both sides, both count
 * it, so one is subtracted. For the first question, an additional part of the statement finds these pairs.
 * From then on, the pairs of each such session before the tail, which are sealed, are loaded once and cached.
 */

/** SQL of the kind and the key of a raw event, and the condition on events whose sessions are counted. */
interface Pairs {
  readonly kind: string;
  readonly key: string;
  readonly paired: string;
}

/** Events in the tail of sessions that began before it. */
const goingOn = (app: AppId, tail: Range, paired: string): string =>
  `FROM events WHERE ${ofApp(app)} AND ${paired} AND ${eventsIn([tail])} AND started_at < ${instant(tail.from)}`;

const STARTED = 'toUnixTimestamp64Milli(started_at)';

/** Limit of session starts in the text of a statement. */
const MOST_STARTS = 2_000;

const FIRST = z.object({ since: z.number(), starts: z.array(z.number()) });

/**
 * SQL of the pairs as rows with negative sessions; null if the plan has none. Reads from the start of the
 * earliest of these sessions, at most 24 h before the tail and mostly less than 1 h. Nearly all other
 * sessions started at another ms, so the condition on the start leaves few rows to group.
 */
export async function metBeforeRows(
  db: Database,
  app: AppId,
  { range, tail }: Plan,
  { kind, key, paired }: Pairs,
): Promise<string | null> {
  if (tail === null || range.from >= tail.from) return null;
  const start = instant(tail.from);
  const { since, starts } = await db.queryOne({
    name: 'sessions that go on',
    sql: `SELECT toUnixTimestamp64Milli(coalesce(minOrNull(started_at), ${start})) AS since,
    groupUniqArray(${MOST_STARTS + 1})(${STARTED}) AS starts ${goingOn(app, tail, paired)}`,
    row: FIRST,
  });
  if (since >= tail.from) return null;
  const around = { from: epochMs(Math.max(range.from, since)), to: tail.to };
  const theirs =
    starts.length > MOST_STARTS
      ? `started_at IN (SELECT started_at ${goingOn(app, tail, paired)})`
      : startedAt(starts);
  return `
SELECT kind, key, toInt64(0) AS events, -toInt64(count()) AS sessions, toUInt64(0) AS engaged_ms, toUInt64(0) AS engagements
FROM
(
    SELECT ${kind} AS kind, ${key} AS key
    FROM events
    WHERE ${ofApp(app)} AND ${paired} AND ${eventsIn([around])} AND ${theirs}
    GROUP BY kind, key, session_id, started_at
    HAVING min(timestamp) < ${start} AND max(timestamp) >= ${start}
)
GROUP BY kind, key`;
}

const startedAt = (starts: readonly number[]): string => `${STARTED} IN (${starts.map(int).join(', ')})`;

/** SQL of a key with its kind in front: `page /pricing`. A kind contains no space. */
const pairOf = ({ kind, key }: Pairs): string => `concat(${kind}, ' ', ${key})`;
const asMet = (pair: string): Met => {
  const space = pair.indexOf(' ');
  return { kind: pair.slice(0, space), key: pair.slice(space + 1) };
};

export interface Met {
  readonly kind: string;
  readonly key: string;
}

/** If more sessions continue in the tail, the pairs are counted in the store. */
const MOST_SESSIONS = 5_000;

const SESSION = z.tuple([z.number(), z.string(), z.array(z.string())]);
const MET = z.tuple([z.number(), z.string(), z.string(), z.number()]);

/** Returns the key of each such pair, from the cache; null if too many sessions continue in the tail. */
export async function metBefore(
  db: Database,
  facts: PageFacts,
  { range, tail }: Plan,
  pairs: Pairs,
): Promise<readonly Met[] | null> {
  if (tail === null || range.from >= tail.from) return [];
  const sessions = await db.rows({
    name: 'sessions that go on',
    sql: `SELECT ${STARTED}, session_id, groupUniqArray(${pairOf(pairs)}) ${goingOn(facts.app, tail, pairs.paired)}
GROUP BY started_at, session_id LIMIT ${MOST_SESSIONS + 1}`,
    row: SESSION,
  });
  if (sessions.length > MOST_SESSIONS) return null;
  const names = sessions.map(([started, id]) => sessionOf(started, id));
  const before = await pairsBefore(db, facts, names, pairs);
  return sessions.flatMap(([started, id, met]) => {
    const last = before.get(sessionOf(started, id));
    return met.filter((pair) => (last?.get(pair) ?? -1) >= range.from).map(asMet);
  });
}

const sessionOf = (started: number, id: string): string => `${started} ${id}`;
const startOf = (session: string): number => Number(session.slice(0, session.indexOf(' ')));

/** Returns the pairs of each session before the watermark, each with its last occurrence (epoch ms). */
const pairsBefore = (
  db: Database,
  facts: PageFacts,
  sessions: readonly string[],
  pairs: Pairs,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> =>
  facts.events
    .of([{ start: facts.until - DAY_MS - HOUR_MS, end: facts.until }])
    .recallEach(
      { name: 'met before', sql: `${ofApp(facts.app)} AND ${pairs.paired} ${int(facts.until)}` },
      sessions,
      async (unknown) => {
        const met = new Map(unknown.map((session) => [session, new Map<string, number>()]));
        for (let at = 0; at < unknown.length; at += MOST_STARTS) {
          const starts = unknown.slice(at, at + MOST_STARTS).map(startOf);
          const sealed = { from: epochMs(Math.min(...starts)), to: epochMs(facts.until - 1) };
          const rows = await db.rows({
            name: 'met before',
            sql: `SELECT ${STARTED} AS started, session_id, ${pairOf(pairs)} AS pair, max(toUnixTimestamp64Milli(timestamp))
FROM events WHERE ${ofApp(facts.app)} AND ${pairs.paired} AND ${eventsIn([sealed])} AND ${startedAt(starts)}
GROUP BY started, session_id, pair`,
            row: MET,
          });
          for (const [started, session, pair, last] of rows) {
            met.get(sessionOf(started, session))?.set(pair, last);
          }
        }
        return met;
      },
    );
