/** The part of the body of `POST /sdk/v1/events` that a browser sends. Times are ISO 8601 in UTC. */
export type EventType = 'pageview' | 'click' | 'error' | 'engagement' | 'custom';

/** Fields of an event besides type, time and path. */
export interface Detail {
  readonly target?: string;
  readonly message?: string;
  readonly durationMs?: number;
  readonly name?: string;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

export interface WireEvent extends Detail {
  readonly type: EventType;
  readonly timestamp: string;
  readonly path: string;
}

export interface Context {
  readonly referrer?: string;
  readonly utm?: Readonly<Record<string, string | undefined>>;
  readonly language?: string;
  readonly screen?: string;
  /** Only where it is not the request's. */
  readonly userAgent?: string | undefined;
}

/** A session without its events. */
export interface SessionHead {
  readonly id: string;
  readonly visitorId: string;
  readonly startedAt: string;
  readonly context: Context;
}

export const iso = (ms: number): string => new Date(ms).toISOString();
