import { newId } from './ids.ts';
import type { Store } from './store.ts';
import { type Context, iso, type SessionHead } from './wire.ts';

export const IDLE_MS = 30 * 60_000;
export const DAY_MS = 24 * 60 * 60_000;

/** The stored session, shared by all tabs of the site. Times are epoch ms. */
interface Session {
  readonly id: string;
  readonly startedAt: number;
  /** The time of its latest event. */
  readonly last: number;
  readonly context: Context;
}

/** An event's session, and its time within the session (epoch ms). */
export interface Place {
  readonly head: SessionHead;
  readonly at: number;
}

export interface Sessions {
  /** Epoch ms after which the current session is over; 0 without one. */
  end(): number;
  /** Places an event that happens now: in the current session, or in a new one if that is over. */
  place(now: number): Place;
  /** Places an event in the current session without prolonging it. */
  placeAt(at: number): Place;
}

const endOf = (session: Session): number => Math.min(session.last + IDLE_MS, session.startedAt + DAY_MS);

/**
 * A clock that was set back by more than the idle time also ends the session. Otherwise its time would stand
 * still.
 */
const covers = (session: Session, now: number): boolean =>
  now <= endOf(session) && now >= session.last - IDLE_MS;

/**
 * Visitor and sessions in `store`. Calls `context` once for each session that starts. Within a session, times
 * never go back, even if the clock does, and none is before the session's start.
 */
export function createSessions(store: Store, context: () => Context): Sessions {
  const read = (): Session | undefined => store.get('s') as Session | undefined;
  const visitor = (): string => {
    const id = `${store.get('v') ?? newId()}`;
    store.set('v', id);
    return id;
  };
  const placed = ({ id, startedAt, context }: Session, at: number): Place => ({
    head: { id, visitorId: visitor(), startedAt: iso(startedAt), context },
    at,
  });
  const place = (now: number): Place => {
    const known = read();
    const session: Session =
      known && covers(known, now)
        ? { ...known, last: Math.max(now, known.last) }
        : { id: newId(), startedAt: now, last: now, context: context() };
    store.set('s', session);
    return placed(session, session.last);
  };
  return {
    end() {
      const session = read();
      return session ? endOf(session) : 0;
    },
    place,
    placeAt(at) {
      const session = read();
      return session ? placed(session, at) : place(at);
    },
  };
}
