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
}
