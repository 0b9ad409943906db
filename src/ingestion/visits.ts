import { DAY_MS, type EpochMs, MINUTE_MS, toIso } from '../domain/time.ts';
import { MAX_LENGTH } from './context.ts';
import { logSessionId } from './log-sessions.ts';
import { cleanText } from './text.ts';
import type { Rejection, ValidSession } from './validate.ts';
import type { ValidEvent } from './validate-event.ts';

/*
 * The visits of an access log, as they become sessions. The files of an import may begin in the middle of a visit, and
 * may hold requests that are stored already. So the stored requests are laid beside those that come in:
 *
 * - A request is known by visitor, second and path. If a log holds it n times, all n count, and the n-th is stored
 *   already if at least n are stored.
 * - A request belongs to the session of the visitor's request before it, stored or new, if that was at most 30 minutes
 *   earlier and the session began at most 24 hours earlier. Otherwise it begins a session.
 * - What is stored keeps its session, because answers have counted it.
 */

const IDLE_MS = 30 * MINUTE_MS;

/** Equal requests of a visitor that are stored. */
export interface StoredRequests {
  /** The session's id. */
  readonly id: string;
  readonly startedAt: EpochMs;
  readonly timestamp: EpochMs;
  readonly path: string;
  readonly events: number;
}

/** What an event of a visit says beside its stored fields. */
export interface SentVisitEvent {
  readonly occurrence?: unknown;
  /** If it is another one than the visit's. */
  readonly referrer?: unknown;
}

export interface Settled {
  /** Sessions, or parts of stored ones, with the events that are not stored. `index` is the visit's. */
  readonly sessions: readonly ValidSession[];
  readonly rejected: readonly Rejection[];
}

export interface SettleOptions {
  /** By visitor. */
  readonly stored: ReadonlyMap<string, readonly StoredRequests[]>;
  readonly sentEvent: (visit: ValidSession, event: ValidEvent) => SentVisitEvent;
  /** Sessions that began earlier take no more events: the app's raw events of that time expire. */
  readonly acceptedFrom: EpochMs;
}

/** How far before a visit its stored requests matter, and how far its session may have begun before them. */
export const LOOK_BACK_MS = { requests: IDLE_MS, sessions: DAY_MS } as const;

/** The ids of all sessions to which requests of a visitor in this range may belong. */
export function sessionIdsOf(visitorId: string, from: EpochMs, to: EpochMs): string[] {
  const ids: string[] = [];
  for (let at = from - DAY_MS; ; at = Math.min(at + DAY_MS, to)) {
    ids.push(logSessionId(visitorId, at));
    if (at >= to) return ids;
  }
}

/** Decides to which session each request belongs, and leaves out those that are stored. Pure. */
export function settleVisits(visits: readonly ValidSession[], options: SettleOptions): Settled {
  const byVisitor = new Map<string, ValidSession[]>();
  for (const visit of visits) {
    const others = byVisitor.get(visit.visitorId);
    if (others === undefined) byVisitor.set(visit.visitorId, [visit]);
    else others.push(visit);
  }
  const parts: Settled[] = [];
  for (const [visitorId, own] of byVisitor) {
    own.sort((a, b) => a.startedAt - b.startedAt);
    parts.push(settleVisitor(own, options.stored.get(visitorId) ?? [], options));
  }
  return {
    sessions: parts.flatMap(({ sessions }) => sessions),
    rejected: parts.flatMap(({ rejected }) => rejected),
  };
}

interface Current {
  readonly id: string;
  readonly startedAt: EpochMs;
  last: EpochMs;
}

function settleVisitor(
  visits: readonly ValidSession[],
  stored: readonly StoredRequests[],
  { sentEvent, acceptedFrom }: SettleOptions,
): Settled {
  const known = countOf(stored);
  const inOrder = stored.toSorted((a, b) => a.timestamp - b.timestamp || a.startedAt - b.startedAt);
  const rejected: Rejection[] = [];
  const sessions: ValidSession[] = [];
  let current: Current | null = null;
  let next = 0;
  for (const visit of visits) {
    const parts = new Map<EpochMs, ValidEvent[]>();
    for (const event of visit.events.toSorted((a, b) => a.timestamp - b.timestamp)) {
      const { timestamp: at, path, position } = event;
      for (let past = inOrder[next]; past !== undefined && past.timestamp <= at; past = inOrder[++next]) {
        current = { id: past.id, startedAt: past.startedAt, last: past.timestamp };
      }
      const sent = sentEvent(visit, event);
      if ((known.get(requestKey(at, path)) ?? 0) >= occurrenceOf(sent)) continue;
      const goesOn: boolean =
        current !== null && at - current.last <= IDLE_MS && at - current.startedAt <= DAY_MS;
      if (current === null || !goesOn) {
        current = { id: logSessionId(visit.visitorId, at), startedAt: at, last: at };
      }
      current.last = at;
      const { id, startedAt } = current;
      if (startedAt < acceptedFrom) {
        rejected.push({ session: visit.index, event: position, ...beyond(acceptedFrom) });
        continue;
      }
      const part = parts.get(startedAt);
      if (part !== undefined) part.push(event);
      else {
        const events = [event];
        parts.set(startedAt, events);
        sessions.push({ ...visit, id, startedAt, context: contextOf(visit, sent), events });
      }
    }
  }
  return { sessions, rejected };
}

const requestKey = (at: EpochMs, path: string): string => `${at} ${path}`;

function countOf(stored: readonly StoredRequests[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { timestamp, path, events } of stored) {
    const key = requestKey(timestamp, path);
    counts.set(key, (counts.get(key) ?? 0) + events);
  }
  return counts;
}

function occurrenceOf({ occurrence }: SentVisitEvent): number {
  return typeof occurrence === 'number' && Number.isInteger(occurrence) && occurrence > 0 ? occurrence : 1;
}

/** The session has the referrer of its own first request. */
function contextOf({ context }: ValidSession, { referrer }: SentVisitEvent): ValidSession['context'] {
  if (typeof referrer !== 'string') return context;
  return { ...context, referrer: cleanText(referrer, MAX_LENGTH.referrer) };
}

const beyond = (acceptedFrom: EpochMs) =>
  ({
    code: 'beyond_retention',
    message: `The session began before ${toIso(acceptedFrom)}, where the app's retention begins.`,
  }) as const;
