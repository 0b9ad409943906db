import { byBytes } from './exact.ts';

export type EventType = 'pageview' | 'click' | 'error' | 'engagement' | 'custom';

/** One accepted event; `timestamp` in epoch ms. */
export interface SentEvent {
  readonly type: EventType;
  readonly timestamp: number;
  readonly path: string;
  readonly target?: string;
  readonly message?: string;
  readonly name?: string;
  readonly durationMs?: number;
  readonly properties?: Readonly<Record<string, string | number | boolean>>;
}

/** The context as the sender stated it. */
export interface SentContext {
  readonly userAgent?: string;
  readonly referrer?: string;
  readonly utm?: Readonly<Partial<Record<UtmField, string>>>;
  readonly language?: string;
  readonly screen?: string;
  readonly location?: {
    readonly country?: string;
    readonly region?: string;
    readonly city?: string;
    readonly latitude?: number;
    readonly longitude?: number;
  };
}

export type UtmField = 'source' | 'medium' | 'campaign' | 'term' | 'content';

/** A session's part of one accepted batch. */
export interface Delivery {
  readonly appId: string;
  /** For example `https://shop.example`. */
  readonly appDomain: string;
  readonly session: { readonly id: string; readonly visitorId: string; readonly startedAt: number };
  readonly context: SentContext;
  readonly events: readonly SentEvent[];
}

/** An event in the form in which it is counted. */
export interface CountedEvent {
  readonly session: Session;
  readonly type: EventType;
  readonly timestamp: number;
  readonly path: string;
  /** Click target, error message or custom event's name; '' if absent. */
  readonly label: string;
  readonly durationMs: number;
  /** By key, as texts; without empty ones. */
  readonly properties: ReadonlyMap<string, string>;
}

/** A session merged from all its deliveries. Absent texts are ''. */
export interface Session {
  readonly key: string;
  readonly startedAt: number;
  readonly events: CountedEvent[];
  readonly visitor: string;
  readonly userAgent: string;
  readonly language: string;
  readonly screen: string;
  readonly referrer: string;
  readonly appDomain: string;
  readonly utm: Readonly<Record<UtmField, string>>;
  readonly country: string;
  readonly region: string;
  readonly city: string;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/** Merges the deliveries of one app into sessions. `language` makes a tag canonical ('' for none). */
export function sessionsOf(
  deliveries: readonly Delivery[],
  language: (tag: string) => string,
): readonly Session[] {
  const bySession = new Map<string, Delivery[]>();
  for (const delivery of deliveries.filter(({ events }) => events.length > 0)) {
    const key = `${delivery.session.id} ${delivery.session.startedAt}`;
    bySession.set(key, [...(bySession.get(key) ?? []), delivery]);
  }
  return [...bySession].map(([key, parts]) => sessionOf(key, parts, language));
}

function sessionOf(key: string, parts: readonly Delivery[], language: (tag: string) => string): Session {
  const text = (read: (part: Delivery) => string | undefined) =>
    earliest(parts, (p) => read(p) ?? '', byBytes);
  const number = (read: (part: Delivery) => number | null) => earliest(parts, read, byNumberAbsentFirst);
  const session: Session = {
    key,
    startedAt: parts[0]?.session.startedAt ?? Number.NaN,
    events: [],
    visitor: text((part) => part.session.visitorId),
    userAgent: text((part) => part.context.userAgent),
    language: text((part) => language(part.context.language ?? '')),
    screen: text((part) => part.context.screen),
    referrer: text((part) => part.context.referrer),
    appDomain: parts[0]?.appDomain ?? '',
    utm: {
      source: text((part) => part.context.utm?.source),
      medium: text((part) => part.context.utm?.medium),
      campaign: text((part) => part.context.utm?.campaign),
      term: text((part) => part.context.utm?.term),
      content: text((part) => part.context.utm?.content),
    },
    country: text((part) => part.context.location?.country),
    region: text((part) => part.context.location?.region),
    city: text((part) => part.context.location?.city),
    latitude: number((part) => coordinates(part.context)?.latitude ?? null),
    longitude: number((part) => coordinates(part.context)?.longitude ?? null),
  };
  session.events.push(...parts.flatMap((part) => part.events.map((event) => counted(session, event))));
  return session;
}

const counted = (session: Session, event: SentEvent): CountedEvent => ({
  session,
  type: event.type,
  timestamp: event.timestamp,
  path: event.path.replace(/[?#].*$/s, ''),
  label: event.target ?? event.message ?? event.name ?? '',
  durationMs: event.durationMs ?? 0,
  properties: new Map(
    Object.entries(event.properties ?? {})
      .map(([key, value]): [string, string] => [key, String(value)])
      .filter(([, value]) => value !== ''),
  ),
});

/** Returns the value with the smallest (time of the delivery's earliest event, value). */
function earliest<Value>(
  parts: readonly Delivery[],
  read: (part: Delivery) => Value,
  compare: (a: Value, b: Value) => number,
): Value {
  const [first] = parts
    .map((part) => ({
      at: Math.min(...part.events.map(({ timestamp }) => timestamp)),
      value: read(part),
    }))
    .sort((a, b) => a.at - b.at || compare(a.value, b.value));
  if (first === undefined) throw new Error('a session without a delivery');
  return first.value;
}

const byNumberAbsentFirst = (a: number | null, b: number | null): number =>
  (a ?? Number.NEGATIVE_INFINITY) === (b ?? Number.NEGATIVE_INFINITY)
    ? 0
    : (a ?? Number.NEGATIVE_INFINITY) - (b ?? Number.NEGATIVE_INFINITY);

/** Returns both coordinates; null if one is absent or out of range. Adding 0 turns -0 into 0. */
function coordinates({ location }: SentContext): { latitude: number; longitude: number } | null {
  const { latitude, longitude } = location ?? {};
  if (latitude === undefined || longitude === undefined) return null;
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return null;
  return { latitude: latitude + 0, longitude: longitude + 0 };
}

export const eventsOf = (session: Session, type: EventType): CountedEvent[] =>
  session.events.filter((event) => event.type === type);

/** True for at most one pageview, no click and no custom event. */
export const isBounce = (session: Session): boolean =>
  eventsOf(session, 'pageview').length <= 1 &&
  eventsOf(session, 'click').length === 0 &&
  eventsOf(session, 'custom').length === 0;

/** The time from the start to the last event, in ms. */
export const duration = (session: Session): number =>
  Math.max(...session.events.map(({ timestamp }) => timestamp)) - session.startedAt;
