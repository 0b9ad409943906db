import type { Range } from './time.ts';

/**
 * The data that an answer rests on: events by their own time, and events by the start of their session; null
 * for none.
 */
export interface Scope {
  readonly events: Range | null;
  readonly sessions: Range | null;
}
