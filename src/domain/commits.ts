import { type FactKind, LEDGER_KIND } from './fact-kinds.ts';
import type { EpochMs } from './time.ts';

/** The identity of a session within its app. */
export interface SessionKey {
  readonly id: string;
  /** Epoch ms. */
  readonly startedAt: number;
}

/** A session with new events. */
export interface CommittedSession extends SessionKey {
  /** The visitor's id, as these events name it; '' if they name none. */
  readonly visitor: string;
}

/** The number of events of a type in half an hour, the unit of hours in UTC and in Tehran. */
export interface TypeCount {
  /** The start of the half hour, epoch ms. */
  readonly at: number;
  readonly type: string;
  readonly events: number;
}

/**
 * The number of an app's events in an hour: the events' own hour, or the hour in which their sessions
 * started. Times are epoch ms.
 */
export interface HourCount {
  readonly app: string;
  readonly kind: 'event' | 'session';
  readonly hour: number;
  readonly events: number;
  readonly oldest: number;
  readonly newest: number;
  /** The time of the last of these events. */
  readonly lastEvent: number;
  /** The sessions of these events; some are repeated. */
  readonly sessions: readonly CommittedSession[];
  /** These events by their own time and type; none for hours of sessions. Some are repeated. */
  readonly types: readonly TypeCount[];
}

/** Events of an app that one write committed. */
export interface Commit {
  readonly hours: readonly HourCount[];
  /** When they were inserted: `inserted_at` of each. */
  readonly at: EpochMs;
}

/** Returns the sessions with events among the commits; some are repeated. */
export const sessionsOf = (commits: readonly Commit[]): CommittedSession[] =>
  commits.flatMap((commit) => hoursBy('session', commit)).flatMap(({ sessions }) => sessions);

/** Merges the counts of the same half hour and type. */
export function mergedTypes(counts: readonly TypeCount[]): TypeCount[] {
  const merged = new Map<number, Map<string, number>>();
  for (const { at, type, events } of counts) {
    const own = merged.get(at) ?? new Map<string, number>();
    merged.set(at, own.set(type, (own.get(type) ?? 0) + events));
  }
  return [...merged].flatMap(([at, own]) => [...own].map(([type, events]) => ({ at, type, events })));
}

/** Returns the types of the events of the commits. */
export const typesOf = (commits: readonly Commit[]): TypeCount[] =>
  mergedTypes(commits.flatMap(({ hours }) => hours.flatMap(({ types }) => types)));

/** Returns the hours of the events by their own time (`page`), or by the start of their sessions. */
export const hoursBy = (kind: FactKind, { hours }: Commit): HourCount[] =>
  hours.filter((count) => count.kind === LEDGER_KIND[kind]);
