import type { Params } from '../clickhouse/database.ts';
import { type Sql, sql } from '../clickhouse/sql.ts';
import { findLate, type LateSession } from '../facts/late.ts';
import { type LateHour, lateVersion, MOST_LATE_HOURS } from '../snapshots/late-hours.ts';
import type { Facts } from './ask.ts';

/**
 * Thrown if late events change more than a question can correct. Raw rows then answer from the first late
 * hour on.
 */
export class TooManyLate extends Error {}

/** Limit of sessions with late events. */
const MOST_LATE_SESSIONS = 2_000;

/** What late events change, by the session to which they belong. */
export type Changes<Change> = ReadonlyMap<string, readonly Change[]>;

/** The name of a session in `Changes`. */
export const sessionName = (startedAt: number, id: string): string => `${startedAt} ${id}`;

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

/** The sessions with late events of an hour; null if they are unknown. */
interface Found {
  /** The number of committed events of the hour when they were found. */
  readonly committed: number;
  readonly sessions: readonly LateSession[] | null;
}

/** Finds the sessions with late events of these hours, once for all questions; null if they are unknown or too many. */
async function sessionsIn(facts: Facts, hours: readonly LateHour[]): Promise<readonly LateSession[] | null> {
  const { app, cache } = facts;
  const key = `late ${app}`;
  const known: ReadonlyMap<number, Found> = cache.get(key) ?? new Map();
  const grown = hours.filter(({ hour, committed }) => known.get(hour)?.committed !== committed);
  const found = new Map(known);
  if (grown.length > 0) {
    // Questions of the same moment share one reading.
    const read = await cache.latest(`finding late ${app}`, lateVersion(grown), () =>
      findLate(facts, grown, MOST_LATE_SESSIONS),
    );
    for (const { hour, committed } of grown) found.set(hour, { committed, sessions: read.get(hour) ?? null });
    let size = 0;
    for (const { sessions } of found.values()) size += 2 + 2 * (sessions?.length ?? 0);
    cache.set(key, found, size);
  }
  const late = hours.map(({ hour }) => found.get(hour)?.sessions ?? null);
  if (!late.every((sessions) => sessions !== null)) return null;
  const unique = new Map(late.flat().map((session) => [sessionName(session.startedAt, session.id), session]));
  return unique.size <= MOST_LATE_SESSIONS ? [...unique.values()] : null;
}

/** SQL condition on a raw event: it is `among` those sought, and belongs to one of these sessions. With its parameters. */
export const ofSessions = (
  sessions: readonly LateSession[],
  among: Sql,
): { readonly where: Sql; readonly params: Params } => ({
  // The id is compared alone first, which takes a third of the time of both.
  where: sql`${among}
    AND session_id IN {ids:Array(String)}
    AND (toUnixTimestamp64Milli(started_at), session_id) IN arrayZip({starts:Array(Int64)}, {ids:Array(String)})`,
  params: { ids: sessions.map(({ id }) => id), starts: sessions.map(({ startedAt }) => startedAt) },
});

/** What was read of the late events of an app so far. */
interface Known<Change> {
  /** The number of committed events of each late hour when it was read. */
  readonly hours: ReadonlyMap<number, number>;
  /** Null if the late events of an hour are unknown, or if they are too many. */
  readonly changes: Changes<Change> | null;
}

/**
 * Returns what the late events of all sessions change. `read` gets the sessions with late events of some hours, and
 * returns everything about them.
 */
export async function changesOf<Change>(
  facts: Facts,
  name: string,
  read: (sessions: readonly LateSession[], hours: readonly LateHour[]) => Promise<Changes<Change>>,
  sizeOf: (change: Change) => number,
): Promise<readonly Change[]> {
  const { app, cache, lateHours } = facts;
  if (lateHours.length === 0) return [];
  if (lateHours.length > MOST_LATE_HOURS) throw new TooManyLate();
  const key = `late ${app} ${name}`;
  const known: Known<Change> = cache.get(key) ?? { hours: new Map(), changes: new Map() };
  const grown = lateHours.filter(({ hour, committed }) => known.hours.get(hour) !== committed);
  let { changes } = known;
  if (grown.length > 0 && changes !== null) {
    const sessions = await sessionsIn(facts, grown);
    const more = sessions !== null && sessions.length > 0 ? await read(sessions, grown) : [];
    const all = new Map([...changes, ...more]);
    changes = sessions !== null && all.size <= MOST_LATE_SESSIONS ? all : null;
    const hours = new Map([...known.hours, ...grown.map((late) => [late.hour, late.committed] as const)]);
    let size = hours.size;
    for (const own of changes?.values() ?? []) for (const change of own) size += 1 + sizeOf(change);
    cache.set(key, { hours, changes } satisfies Known<Change>, size);
  }
  if (changes === null) throw new TooManyLate();
  return [...changes.values()].flat();
}

/** Returns the names of all sessions with late events. Throws `TooManyLate`. */
export async function lateNames(facts: Facts): Promise<ReadonlySet<string>> {
  const read = async (sessions: readonly LateSession[]): Promise<Changes<string>> => {
    const names = sessions.map(({ startedAt, id }) => sessionName(startedAt, id));
    return bySession(names.map((name) => [name, name]));
  };
  return new Set(await changesOf(facts, 'names', read, () => 1));
}
