import type { Params } from '../../clickhouse/database.ts';
import { bucket, inEachHour, int } from '../../clickhouse/literals.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import type { SessionKey } from '../../domain/commits.ts';
import type { AppId } from '../../domain/ids.ts';
import { DAY_MS, epochMs, HOUR_MS, hourOf } from '../../domain/time.ts';
import { type LateHour, lateVersion, MOST_LATE_HOURS } from '../../snapshots/late-hours.ts';
import type { Facts } from '../input/app-facts.ts';
import { ofApp } from '../range/sql.ts';
import { MOST_LATE_SESSIONS, noneLate, sessionName, sessionsIn } from './search.ts';

/**
 * Thrown if late events change more than a question can correct. Raw rows then answer from the first late
 * hour on.
 */
export class TooManyLate extends Error {}

/** The changes that late events make, by the session to which they belong. */
export type Changes<Change> = ReadonlyMap<string, readonly Change[]>;

/** Groups by session. */
export function bySession<Item>(
  items: readonly (readonly [session: string, item: Item])[],
): Map<string, Item[]> {
  const found = new Map<string, Item[]>();
  for (const [session, item] of items) {
    const own = found.get(session);
    if (own === undefined) found.set(session, [item]);
    else own.push(item);
  }
  return found;
}

/**
 * Up to so many hours of sessions are named together with the session: the events are sorted by both. A server gets the ids
 * in the address of the request, which must not be long.
 */
const MOST_NAMED_HOURS = 200;

/**
 * Returns the SQL condition on a raw event, with its parameters: its start and its id both occur among these sessions. It
 * also matches a session with the start of one and the id of another, because comparing both together takes twice the
 * time. `hours` tell the last event of the sessions that started in them.
 */
export function ofSessions(
  app: AppId,
  sessions: readonly SessionKey[],
  hours: readonly LateHour[],
): { readonly where: Sql; readonly params: Params } {
  const lastOf = new Map(hours.map(({ hour, lastEvent }) => [hour, lastEvent]));
  const named = sessions.flatMap(({ id, startedAt }) => {
    const first = hourOf(startedAt);
    const last = Math.max(first, hourOf(lastOf.get(first) ?? startedAt + DAY_MS));
    return Array.from({ length: (last - first) / HOUR_MS + 1 }, (_, n) => ({
      id,
      hour: first + n * HOUR_MS,
    }));
  });
  const own = sql`${ofApp(app)} AND toUnixTimestamp64Milli(started_at) IN (${join(sessions.map(({ startedAt }) => int(startedAt)))})`;
  if (named.length > MOST_NAMED_HOURS) {
    const ranges = named.map(({ hour }) => ({ from: epochMs(hour), to: epochMs(hour) }));
    const where = sql`${own} AND ${inEachHour(ranges)} AND session_id IN {ids:Array(String)}`;
    return { where, params: { ids: sessions.map(({ id }) => id) } };
  }
  const sought = sql`[${join(named.map(({ hour }) => bucket(hour)))}]::Array(DateTime('UTC'))`;
  const where = sql`${own}
    AND (toStartOfHour(timestamp), session_id) IN arrayZip(${sought}, {ids:Array(String)})`;
  return { where, params: { ids: named.map(({ id }) => id) } };
}

/** The changes that were read of the late events of an app so far. */
interface Known<Change> {
  /** The number of committed events of each late hour when it was read. */
  readonly hours: ReadonlyMap<number, number>;
  /** Null if the late events of an hour are unknown, or if they are too many. */
  readonly changes: Changes<Change> | null;
}

/**
 * Returns the changes that the late events of all sessions make. `read` gets the sessions with late events of some hours,
 * and returns all their changes. Those of other sessions, which may be a part only, are dropped.
 */
export async function changesOf<Change>(
  facts: Facts,
  name: string,
  read: (sessions: readonly SessionKey[], hours: readonly LateHour[]) => Promise<Changes<Change>>,
  sizeOf: (change: Change) => number,
): Promise<readonly Change[]> {
  const { app, cache, lateHours } = facts;
  if (lateHours.length === 0) {
    noneLate(facts);
    return [];
  }
  if (lateHours.length > MOST_LATE_HOURS) throw new TooManyLate();
  const key = `late ${app} ${name}`;
  const known: Known<Change> = cache.get(key) ?? { hours: new Map(), changes: new Map() };
  const grown = lateHours.filter(({ hour, committed }) => known.hours.get(hour) !== committed);
  const sizeOfAll = (all: Changes<Change>): number =>
    [...all.values()].flat().reduce((sum, change) => sum + 1 + sizeOf(change), 0);
  // Questions of the same moment share one reading, and so do the parts of one question.
  const readOnce = (sessions: readonly SessionKey[]): Promise<Changes<Change>> =>
    cache.latest(`reading ${key}`, lateVersion(grown), () => read(sessions, grown), sizeOfAll);
  let { changes } = known;
  if (grown.length > 0 && changes !== null) {
    const sessions = await sessionsIn(facts, grown);
    const names = new Set(sessions?.map(({ startedAt, id }) => sessionName(startedAt, id)));
    const found = sessions !== null && sessions.length > 0 ? await readOnce(sessions) : [];
    const all = new Map([...changes, ...[...found].filter(([name]) => names.has(name))]);
    changes = sessions !== null && all.size <= MOST_LATE_SESSIONS ? all : null;
    const hours = new Map([...known.hours, ...grown.map((late) => [late.hour, late.committed] as const)]);
    const size = hours.size + (changes === null ? 0 : sizeOfAll(changes));
    cache.set(key, { hours, changes } satisfies Known<Change>, size);
  }
  if (changes === null) throw new TooManyLate();
  return [...changes.values()].flat();
}
