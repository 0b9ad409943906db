import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { epochMs, type Range } from '../../domain/time.ts';
import type { Facts } from '../ask.ts';
import type { Plan } from '../plan.ts';
import { eventsIn, instant, int, ofApp } from '../sql.ts';

/*
 * A session that began before the unsealed tail and goes on in it counts once for each key that it meets on both sides. What such
 * sessions had met before the tail is sealed: it is looked up once for each of them, and remembered.
 */

/** What is counted: the kind and key of a raw event, and which types have sessions counted. */
interface Pairs {
  readonly kind: string;
  readonly key: string;
  readonly paired: string;
}

export interface Met {
  readonly kind: string;
  readonly key: string;
}

const MOST_PAIRS = 20_000;
/** In one statement. */
const MOST_SESSIONS = 2_000;

const PAIR = z.tuple([z.number(), z.string(), z.string(), z.string()]);
const MET = z.tuple([z.number(), z.string(), z.string(), z.string(), z.number()]);

/** Each key of the tail once for each session that had met it in the range before; null where that are too many to be named. */
export async function metBefore(
  db: Database,
  facts: Facts,
  app: AppId,
  { range, tail }: Plan,
  pairs: Pairs,
): Promise<readonly Met[] | null> {
  if (tail === null || range.from >= tail.from) return [];
  const found = await pairsThatGoOn(db, app, tail, pairs);
  if (found.length > MOST_PAIRS) return null;
  const sessions = [...new Set(found.map(([started, session]) => sessionOf(started, session)))];
  const before = await pairsBefore(db, facts, app, sessions, pairs);
  return found
    .filter(([started, session, kind, key]) => {
      const last = before.get(sessionOf(started, session))?.get(pairOf(kind, key));
      return last !== undefined && last >= range.from;
    })
    .map(([, , kind, key]) => ({ kind, key }));
}

const sessionOf = (started: number, id: string): string => `${started} ${id}`;
const startOf = (session: string): number => Number(session.slice(0, session.indexOf(' ')));
const pairOf = (kind: string, key: string): string => `${kind} ${key}`;

const STARTED = 'toUnixTimestamp64Milli(started_at)';

/** What the sessions that began before the tail meet in it. */
const pairsThatGoOn = (db: Database, app: AppId, tail: Range, { kind, key, paired }: Pairs) =>
  db.rows({
    name: 'pairs that go on',
    sql: `SELECT DISTINCT ${STARTED}, session_id, ${kind}, ${key}
FROM events WHERE ${ofApp(app)} AND ${paired} AND ${eventsIn([tail])} AND started_at < ${instant(tail.from)}
LIMIT ${MOST_PAIRS + 1}`,
    row: PAIR,
  });

/** For each of the sessions what it had met when sealing ended, and when last (epoch ms). */
const pairsBefore = (
  db: Database,
  facts: Facts,
  app: AppId,
  sessions: readonly string[],
  { kind, key, paired }: Pairs,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> =>
  facts.recallEach(
    { name: 'pairs before', sql: `${ofApp(app)} AND ${paired}` },
    sessions,
    async (unknown) => {
      const met = new Map(unknown.map((session) => [session, new Map<string, number>()]));
      for (let at = 0; at < unknown.length; at += MOST_SESSIONS) {
        const starts = unknown.slice(at, at + MOST_SESSIONS).map(startOf);
        const sealed = { from: epochMs(Math.min(...starts)), to: epochMs(facts.until - 1) };
        const rows = await db.rows({
          name: 'pairs before',
          sql: `SELECT ${STARTED} AS started, session_id, ${kind} AS kind, ${key} AS key, max(toUnixTimestamp64Milli(timestamp))
FROM events WHERE ${ofApp(app)} AND ${paired} AND ${eventsIn([sealed])} AND ${STARTED} IN (${starts.map(int).join(', ')})
GROUP BY started, session_id, kind, key`,
          row: MET,
        });
        for (const [started, session, kindOf, keyOf, last] of rows) {
          met.get(sessionOf(started, session))?.set(pairOf(kindOf, keyOf), last);
        }
      }
      return met;
    },
  );
