import { type EpochMs, floorTo, HOUR_MS, type Range } from '../domain/time.ts';
import type { Scope } from './watermarks.ts';

/** Where an app's events of one flush lie: their own times, and the starts of their sessions. */
export interface Span {
  readonly app: string;
  readonly events: Range;
  readonly sessions: Range;
}

/**
 * What this process is storing: events that may be visible in one table and not yet in another. Tells all there is to know where
 * this process is alone on its store.
 */
export class Underway {
  readonly #spans = new Map<string, Set<Span>>();
  #anywhere = 0;

  /**
   * To be called before the first of these events is sent; `null`: they may be of any app and time. Call the result when it is
   * certain that all of them are committed, or that none of them ever is visible.
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

  /** Whether events of the scope's hours are being stored. */
  touches(app: string, { events, sessions }: Scope): boolean {
    if (this.#anywhere > 0) return true;
    for (const span of this.#spans.get(app) ?? []) {
      if (meets(events, span.events) || meets(sessions, span.sessions)) return true;
    }
    return false;
  }
}

const meets = (scope: Range | null, span: Range): boolean =>
  scope !== null && hourOf(span.from) <= scope.to && span.to >= hourOf(scope.from);

const hourOf = (at: EpochMs): number => floorTo(at, HOUR_MS);
