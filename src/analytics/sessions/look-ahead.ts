import { listOf, number, rowOf, text } from '../../clickhouse/row.ts';
import { sql } from '../../clickhouse/sql.ts';
import { sessionsOf } from '../../domain/commits.ts';
import { visitorOf } from '../../facts/sql/session-columns.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { int } from '../range/sql.ts';
import { keepStarts } from './links.ts';
import { NAME } from './singles.ts';
import { isKnown, type Reader } from './slot.ts';
import type { LookedUp } from './visitors.ts';

/*
 * A process that is alone on its store knows the visitors of new events. It looks them up while their sessions are read,
 * not afterwards. Visitors that are not found in this way are looked up as if commits were unknown (see links.ts).
 */

/** Limit of the visitors that are looked up. */
const MOST = 200;
/** Of a visitor with more sessions, only the last one is read. */
const MOST_STARTS = 100;

/** A visitor's name, a key, and the starts of sealed sessions, the last one first. Without starts: the name and the id. */
const ROW = rowOf([text, text, listOf(number)]);

/** Looks up the visitors of the events that were committed since the reader read; null if there is nothing to do. */
export async function lookAhead(facts: SessionFacts, { single, known }: Reader): Promise<LookedUp | null> {
  const { db, app, where, until } = facts;
  const { visits } = single;
  const commits = visits === null ? null : db.own.commitsSince(app, known?.position ?? null);
  if (visits === null || commits === null) return null;
  const sessions = sessionsOf(commits).filter(
    ({ visitor, startedAt }) => visitor !== '' && !isKnown(db, known, startedAt),
  );
  const ids = [...new Set(sessions.map(({ visitor }) => visitor))];
  if (ids.length === 0 || ids.length > MOST) return null;
  const rows = await db.rows(
    {
      name: `visits, ahead ${single.name}`,
      sql: sql`SELECT ${NAME}, ${visits.key} AS key, arrayPushFront(groupArray(${MOST_STARTS + 1})(started_at), max(started_at)) FROM ${visits.table}
WHERE ${where} AND started_at < ${int(until)} AND visitor IN (SELECT ${visitorOf(sql`arrayJoin({ids:Array(String)})`)}) GROUP BY visitor, key
UNION ALL
SELECT ${NAME}, id, [] FROM (SELECT arrayJoin({ids:Array(String)}) AS id, ${visitorOf(sql`id`)} AS visitor)`,
      row: ROW,
    },
    { searches: true },
    { ids },
  );
  const nameOf = new Map(rows.flatMap(([name, id, starts]) => (starts.length === 0 ? [[id, name]] : [])));
  const late = new Set(
    sessions.filter(({ startedAt }) => startedAt < until).map(({ visitor }) => nameOf.get(visitor)),
  );
  const found = rows.filter(([, , starts]) => starts.length > 0);
  const whole = found.filter(([name, , starts]) => late.has(name) && starts.length <= 1 + MOST_STARTS);
  const kept = whole.map(([name, key, [, ...starts]]) => [name + key, starts] as const);
  await keepStarts(facts, single, new Map(kept));
  return {
    names: new Set(nameOf.values()),
    last: new Map(found.map(([name, key, [last = -1]]) => [name + key, last])),
  };
}
