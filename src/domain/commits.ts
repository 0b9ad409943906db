import type { EpochMs } from './time.ts';

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
  /** The starts of the sessions of these events; some are repeated. Only for the hours of sessions. */
  readonly starts: readonly number[];
}

/** Events of an app that one write committed. */
export interface Commit {
  readonly hours: readonly HourCount[];
  /** The time of the write. */
  readonly at: EpochMs;
}
