import type { Params } from '../../clickhouse/database.ts';
import { bucket, inEachHour, int, ofApp } from '../../clickhouse/literals.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import type { FactKind } from '../../domain/fact-kinds.ts';
import { DAY_MS, epochMs, HOUR_MS, hourOf } from '../../domain/time.ts';
import { findLate, type SessionKey } from '../../facts/late.ts';
import { type LateHour, lateVersion, MOST_LATE_HOURS } from '../../snapshots/late-hour.ts';
import type { Facts } from '../input/app-facts.ts';

/*
 * An event is late if it was committed after its hour was sealed: the facts of the hour do not hold it. Its session is then
 * pending, like one that is not sealed yet.
 */

/** Thrown if late events are too many, or unknown. Raw rows then answer from the first late hour on. */
export class TooManyLate extends Error {}

/** Limit of sessions with late events. */
const MOST_LATE_SESSIONS = 2_000;

/** SQL condition on raw events: they belong to sessions with late events. With its parameters. */
export interface LateEvents {
  readonly where: Sql;
  /** SQL condition on `started_at` (Int64) and `session`: it is one of these sessions. */
  readonly isSession: Sql;
  readonly params: Params;
}

/** The sessions with late events of an hour that had this many committed events; null if they are unknown. */
interface Found {
  readonly committed: number;
  readonly sessions: readonly SessionKey[] | null;
}

/**
 * Finds the sessions with late events; null if there are none. `starts` are the late hours by the start of sessions. Throws
 * `TooManyLate`.
 */
export async function lateEventsOf(
  facts: Facts,
  kind: FactKind,
  starts: readonly LateHour[],
): Promise<LateEvents | null> {
  const { app, cache, lateHours: hours } = facts;
  if (hours.length === 0) return null;
  if (hours.length > MOST_LATE_HOURS) throw new TooManyLate();
  // Questions of the same moment share one search.
  const found = await cache.latest(`finding late ${app}`, lateVersion(hours), () => find(facts, kind));
  const sessions = new Map<string, SessionKey>();
  for (const own of found.values()) {
    if (own.sessions === null) throw new TooManyLate();
    for (const session of own.sessions) sessions.set(`${session.startedAt} ${session.id}`, session);
  }
  if (sessions.size > MOST_LATE_SESSIONS) throw new TooManyLate();
  return sessions.size === 0 ? null : eventsOf(facts, [...sessions.values()], starts);
}

/** What was found for an hour is kept until the hour gets another late event. */
async function find(
  { db, app, cache, lateHours: hours }: Facts,
  kind: FactKind,
): Promise<ReadonlyMap<number, Found>> {
  const key = `late ${app}`;
  const known = cache.get<ReadonlyMap<number, Found>>(key) ?? new Map<number, Found>();
  const sought = hours.filter(({ hour, committed }) => known.get(hour)?.committed !== committed);
  const read =
    sought.length === 0 ? new Map() : await findLate({ db, app, kind }, sought, MOST_LATE_SESSIONS);
  const isSought = new Set(sought.map(({ hour }) => hour));
  const found = new Map(
    hours.map(({ hour, committed }): [number, Found] => [
      hour,
      isSought.has(hour)
        ? { committed, sessions: read.get(hour) ?? null }
        : (known.get(hour) ?? { committed, sessions: null }),
    ]),
  );
  let size = 0;
  for (const { sessions } of found.values()) size += 2 + 2 * (sessions?.length ?? 0);
  cache.set(key, found, size);
  return found;
}

/**
 * Up to so many hours of sessions are named together with the session: the events are sorted by both. A server gets the ids
 * in the address of the request, which must not be long.
 */
const MOST_NAMED_HOURS = 200;

/**
 * The events of these sessions. The condition also matches a session with the start of one and the id of another, because
 * comparing both together takes twice the time; `isSession` tells them apart. `starts` tell the last event of the sessions that
 * started in an hour.
 */
function eventsOf({ app }: Facts, sessions: readonly SessionKey[], starts: readonly LateHour[]): LateEvents {
  const lastOf = new Map(starts.map(({ hour, lastEvent }) => [hour, lastEvent]));
  const named = sessions.flatMap(({ id, startedAt }) => {
    const first = hourOf(startedAt);
    const last = Math.max(first, hourOf(lastOf.get(first) ?? startedAt + DAY_MS));
    return Array.from({ length: (last - first) / HOUR_MS + 1 }, (_, n) => ({
      id,
      startedAt,
      hour: first + n * HOUR_MS,
    }));
  });
  const own = sql`${ofApp(app)} AND toUnixTimestamp64Milli(started_at) IN (${join(sessions.map(({ startedAt }) => int(startedAt)))})`;
  if (named.length > MOST_NAMED_HOURS) {
    const ranges = named.map(({ hour }) => ({ from: epochMs(hour), to: epochMs(hour) }));
    const where = sql`${own} AND ${inEachHour(ranges)} AND session_id IN {late_ids:Array(String)}`;
    return { where, isSession: isOneOf(sessions), params: { late_ids: sessions.map(({ id }) => id) } };
  }
  const sought = sql`[${join(named.map(({ hour }) => bucket(hour)))}]::Array(DateTime('UTC'))`;
  const where = sql`${own}
    AND (toStartOfHour(timestamp), session_id) IN arrayZip(${sought}, {late_ids:Array(String)})`;
  return { where, isSession: isOneOf(named), params: { late_ids: named.map(({ id }) => id) } };
}

/** `{late_ids}` are the ids of these sessions. */
const isOneOf = (sessions: readonly SessionKey[]): Sql =>
  sql`(started_at, session) IN (
        SELECT late.1, late.2 FROM (SELECT arrayJoin(arrayZip([${join(sessions.map(({ startedAt }) => int(startedAt)))}]::Array(Int64), arrayMap(id -> sipHash64(id), {late_ids:Array(String)}))) AS late))`;
