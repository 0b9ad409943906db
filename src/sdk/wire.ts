/** The part of the body of `POST /sdk/v1/events` that a browser sends. Times are ISO 8601 in UTC. */
export type EventType = 'pageview' | 'click' | 'error' | 'engagement' | 'custom';

/** Fields of an event besides type, time and path. */
export interface Detail {
  readonly target?: string;
  readonly message?: string;
  readonly durationMs?: number;
  readonly name?: string;
  readonly properties?: Properties | undefined;
}

/** Of a custom event. */
export type Properties = Readonly<Record<string, string | number | boolean>>;

export interface WireEvent extends Detail {
  readonly type: EventType;
  readonly timestamp: string;
  readonly path: string;
}

export interface Context {
  readonly referrer?: string;
  readonly utm?: Readonly<Record<string, string>>;
  readonly language?: string;
  readonly screen?: string;
}

/** A session without its events. */
export interface SessionHead {
  readonly id: string;
  readonly visitorId: string;
  readonly startedAt: string;
  readonly context: Context;
}

export const iso = (ms: number): string => new Date(ms).toISOString();
