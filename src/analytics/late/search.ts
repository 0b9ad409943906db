import { hoursBy, type SessionKey } from '../../domain/commits.ts';
import { findLate } from '../../facts/late.ts';
import { type LateHour, lateVersion } from '../../snapshots/late-hours.ts';
import type { Facts } from '../input/app-facts.ts';

/* Finds the sessions with late events, among the latest commits or in the store. */

/** Limit of sessions with late events. */
export const MOST_LATE_SESSIONS = 2_000;

/** The start and the id of a session as one text. */
export const sessionName = (startedAt: number, id: string): string => `${startedAt} ${id}`;

const unique = (sessions: readonly SessionKey[]): SessionKey[] => [
  ...new Map(sessions.map((session) => [sessionName(session.startedAt, session.id), session])).values(),
];

/** The sessions with late events of an hour; null if they are unknown. */
interface Found {
  /** The number of committed events of the hour when they were found. */
  readonly committed: number;
  readonly sessions: readonly SessionKey[] | null;
}

/** The sessions that were found so far. */
interface AllFound {
  /** At this position, no other hours had late events; null if that is not known. */
  readonly position: number | null;
  readonly hours: ReadonlyMap<number, Found>;
}

const NOTHING_FOUND: AllFound = { position: null, hours: new Map() };

/** Remembers the found sessions. No other hours have late events. */
function remember({ app, cache, position }: Facts, hours: AllFound['hours']): void {
  let size = 0;
  for (const { sessions } of hours.values()) size += 2 + 2 * (sessions?.length ?? 0);
  cache.set(`late ${app}`, { position, hours } satisfies AllFound, size);
}

/** Remembers that no events are late: those that are committed from now on are then known. */
export const noneLate = (facts: Facts): void => remember(facts, new Map());

/** Finds the sessions with late events of these hours, once for all questions; null if they are unknown or too many. */
export async function sessionsIn(
  facts: Facts,
  hours: readonly LateHour[],
): Promise<readonly SessionKey[] | null> {
  const { app, cache, lateHours } = facts;
  const known = cache.get<AllFound>(`late ${app}`) ?? NOTHING_FOUND;
  const grown = lateHours.filter(({ hour, committed }) => known.hours.get(hour)?.committed !== committed);
  // Questions of the same moment share one search.
  const more = await cache.latest(
    `finding late ${app}`,
    lateVersion(grown),
    async () => committedSessions(facts, known, grown) ?? (await readSessions(facts, grown)),
  );
  const found = new Map([...known.hours, ...more]);
  remember(facts, found);
  const late = hours.map(({ hour }) => found.get(hour)?.sessions ?? null);
  if (!late.every((sessions) => sessions !== null)) return null;
  const all = unique(late.flat());
  return all.length <= MOST_LATE_SESSIONS ? all : null;
}

/**
 * Finds them among the events that were committed since the last search; null if these are not known. Null, too, if one
 * of them was not inserted after the events that the facts hold: `isHeld` would take it for one of those.
 */
function committedSessions(
  { db, app, kind }: Facts,
  known: AllFound,
  hours: readonly LateHour[],
): ReadonlyMap<number, Found> | null {
  const commits = db.own.commitsSince(app, known.position);
  if (commits === null) return null;
  const found = new Map<number, Found>();
  for (const { hour, committed, insertedUntil } of hours) {
    const before = known.hours.get(hour)?.sessions;
    if (before === null) return null;
    const sessions = [...(before ?? [])];
    for (const commit of commits) {
      for (const count of hoursBy(kind, commit)) {
        if (count.hour !== hour) continue;
        if (commit.at <= insertedUntil) return null;
        sessions.push(...count.sessions);
      }
    }
    found.set(hour, { committed, sessions: unique(sessions) });
  }
  return found;
}

async function readSessions(facts: Facts, hours: readonly LateHour[]): Promise<ReadonlyMap<number, Found>> {
  if (hours.length === 0) return new Map();
  const read = await findLate(facts, hours, MOST_LATE_SESSIONS);
  return new Map(hours.map(({ hour, committed }) => [hour, { committed, sessions: read.get(hour) ?? null }]));
}
