import { createHash } from 'node:crypto';
import { DAY_MS, type EpochMs, MINUTE_MS, toIso } from '../domain/time.ts';

/** A pageview of a visitor. */
export interface Visit {
  readonly visitorId: string;
  readonly userAgent: string;
  readonly at: EpochMs;
  readonly path: string;
  readonly referrer: string;
}

/** A session as in a batch of the SDK. */
export interface LogSession {
  readonly id: string;
  readonly visitorId: string;
  readonly startedAt: string;
  readonly context: { readonly referrer: string; readonly userAgent: string };
  readonly events: readonly LogEvent[];
}

interface LogEvent {
  readonly type: 'pageview';
  readonly timestamp: string;
  readonly path: string;
  /** 2 for the second of equal events, 3 for the third, … Absent for the first. */
  readonly occurrence?: number;
  /** If it is another one than the session's. */
  readonly referrer?: string;
}

/** A session, or a part of one that has very many events. */
export interface SessionPart {
  readonly session: LogSession;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** The start of the visitor's session before it, if only the 24 hours have ended that one. */
  readonly follows: string | null;
}

const IDLE_MS = 30 * MINUTE_MS;
/** Beyond these, events are given out before their session is over. */
const MAX_HELD = { ofSession: 10_000, ofAll: 200_000 } as const;

interface Open {
  readonly head: Omit<LogSession, 'events'>;
  readonly follows: string | null;
  readonly startedAt: EpochMs;
  events: LogEvent[];
  /** True once a part was given out. */
  isBegun: boolean;
  lastAt: EpochMs;
  lastPath: string;
  /** How often each path was requested at `lastAt`, if there is more than one request. */
  counts: Map<string, number> | null;
}

/** Ids are hashes: the address is never stored. `app` keeps a visitor from being followed to another app. */
export const logVisitorId = (app: string, address: string, userAgent: string): string =>
  idOf(`${app} ${address} ${userAgent}`);

/** All sessions of a visitor that begin on the same UTC day have this id. It is found without knowing their starts. */
export const logSessionId = (visitorId: string, startedAt: number): string =>
  idOf(`${visitorId} ${Math.floor(startedAt / DAY_MS)}`);

/** The id that earlier versions gave to a session. */
export const formerLogSessionId = (visitorId: string, startedAt: EpochMs): string =>
  idOf(`${visitorId} ${toIso(startedAt)}`);

/**
 * Groups the pageviews of a log into sessions by visitor. They come in the order of time. A session ends after
 * more than 30 minutes without a request, or after 24 hours. Only visitors of the last 30 minutes are in
 * memory, with at most 200,000 events.
 */
export class LogSessions {
  /** By visitor. The least recently active one is the first. */
  readonly #open = new Map<string, Open>();
  #held = 0;

  /** Returns the sessions that are over by now. */
  add(visit: Visit): SessionPart[] {
    const parts: SessionPart[] = [];
    const { visitorId, at } = visit;
    for (const [id, open] of this.#open) {
      if (at - open.lastAt <= IDLE_MS) break;
      parts.push(this.#close(id, open));
    }
    let open = this.#open.get(visitorId);
    let follows: string | null = null;
    if (open !== undefined && at - open.startedAt > DAY_MS) {
      parts.push(this.#close(visitorId, open));
      follows = open.head.startedAt;
      open = undefined;
    }
    open ??= newSession(visit, follows);
    // The map keeps the order of insertion.
    this.#open.delete(visitorId);
    this.#open.set(visitorId, open);
    addEvent(open, visit);
    this.#held++;
    if (open.events.length >= MAX_HELD.ofSession) parts.push(this.#part(open, false));
    if (this.#held > MAX_HELD.ofAll) parts.push(...this.#relieve());
    return parts;
  }

  /** Returns the sessions that are left. */
  end(): SessionPart[] {
    return [...this.#open].map(([id, open]) => this.#close(id, open));
  }

  #close(id: string, open: Open): SessionPart {
    this.#open.delete(id);
    return this.#part(open, true);
  }

  #relieve(): SessionPart[] {
    const parts: SessionPart[] = [];
    for (const open of this.#open.values()) {
      if (this.#held <= MAX_HELD.ofAll / 2) break;
      if (open.events.length > 0) parts.push(this.#part(open, false));
    }
    return parts;
  }

  #part(open: Open, isLast: boolean): SessionPart {
    const { events, isBegun } = open;
    this.#held -= events.length;
    open.events = [];
    open.isBegun = true;
    return { session: { ...open.head, events }, isFirst: !isBegun, isLast, follows: open.follows };
  }
}

function newSession({ visitorId, at, referrer, userAgent, path }: Visit, follows: string | null): Open {
  const id = logSessionId(visitorId, at);
  return {
    head: { id, visitorId, startedAt: toIso(at), context: { referrer, userAgent } },
    follows,
    startedAt: at,
    events: [],
    isBegun: false,
    lastAt: at,
    lastPath: path,
    counts: null,
  };
}

/** Numbers equal events. They have the same time, so they follow one another. */
function addEvent(open: Open, { at, path, referrer }: Visit): void {
  let occurrence = 1;
  const isFirst = open.events.length === 0 && !open.isBegun;
  if (at > open.lastAt || isFirst) open.counts = null;
  else {
    open.counts ??= new Map([[open.lastPath, 1]]);
    occurrence = (open.counts.get(path) ?? 0) + 1;
    open.counts.set(path, occurrence);
  }
  open.lastAt = at;
  open.lastPath = path;
  open.events.push({
    type: 'pageview',
    timestamp: toIso(at),
    path,
    ...(occurrence > 1 && { occurrence }),
    ...(referrer !== open.head.context.referrer && { referrer }),
  });
}

const idOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
