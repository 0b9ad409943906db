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
  /**
   * Places an event that happens now: in the current session, or in a new one if that is over. `ended`: an event of the session
   * that is over, at that time.
   */
  place(now: number, ended?: number | false): Place;
}

const endOf = (session: Session): number => Math.min(session.last + IDLE_MS, session.startedAt + DAY_MS);

/**
 * Visitor and sessions in `store`. Calls `context` once for each session that starts. Within a session, times
 * never go back, even if the clock does, and none is before the session's start.
 */
export function createSessions(store: Store, context: () => Context): Sessions {
  const read = (): Session | undefined => store.get('s') as Session | undefined;
  return {
    end() {
      const session = read();
      return session ? endOf(session) : 0;
    },
    place(now, ended) {
      const known = read();
      // A clock that was set back by more than the idle time also ends the session. Otherwise its time would stand still.
      const session: Session =
        known && (ended || (now <= endOf(known) && now >= known.last - IDLE_MS))
          ? { ...known, last: ended || Math.max(now, known.last) }
          : { id: newId(), startedAt: now, last: now, context: context() };
      if (!ended || !known) store.set('s', session);
      const visitorId = `${store.get('v') ?? newId()}`;
      store.set('v', visitorId);
      const { id, startedAt } = session;
      return {
        head: { id, visitorId, startedAt: iso(startedAt), context: session.context },
        at: session.last,
      };
    },
  };
}
