import type { Scope } from '../domain/scope.ts';
import { type EpochMs, epochMs, hourOf, type Range } from '../domain/time.ts';

const ANY_TIME: Range = { from: epochMs(0), to: epochMs(Number.MAX_SAFE_INTEGER) };

/**
 * The hours that one flush touches in an app: by the events' own times, and by the starts of their sessions.
 */
export interface Span {
  readonly app: string;
  readonly events: Range;
  readonly sessions: Range;
}

/**
 * The events that this process is storing: they may be visible in one table and not yet in another. Complete
 * only if this process is alone on its store.
 */
export class Underway {
  readonly #spans = new Map<string, Set<Span>>();
  #anywhere = 0;

  /**
   * Call this before the first of these events is sent; `null` stands for events of any app and time. Call
   * the result when all of them are committed, or when none of them can become visible any more.
   */
  announce(spans: readonly Span[] | null): () => void {
    if (spans === null) {
      this.#anywhere++;
      return () => void this.#anywhere--;
    }
    for (const span of spans) {
      const others = this.#spans.get(span.app);
      if (others === undefined) this.#spans.set(span.app, new Set([span]));
      else others.add(span);
    }
    return () => {
      for (const span of spans) {
        const others = this.#spans.get(span.app);
        others?.delete(span);
        if (others?.size === 0) this.#spans.delete(span.app);
      }
    };
  }

  /** Returns whether events of the scope's hours are being stored; by default, any of the app. */
  touches(app: string, { events, sessions }: Scope = { events: ANY_TIME, sessions: null }): boolean {
    if (this.#anywhere > 0) return true;
    for (const span of this.#spans.get(app) ?? []) {
      if (meets(events, span.events) || meets(sessions, span.sessions)) return true;
    }
    return false;
  }

  /** Returns the time of the last event of the app that is being stored; 0 if there is none, null if it is not known. */
  last(app: string): EpochMs | null {
    if (this.#anywhere > 0) return null;
    return epochMs(Math.max(0, ...[...(this.#spans.get(app) ?? [])].map(({ events }) => events.to)));
  }
}

const meets = (scope: Range | null, span: Range): boolean =>
  scope !== null && hourOf(span.from) <= scope.to && span.to >= hourOf(scope.from);
