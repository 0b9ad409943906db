import {
  LANGUAGES,
  REFERRERS,
  USER_AGENTS,
  UTM_MEDIUMS,
  UTM_SOURCES,
} from '../../test/support/oracle/known.ts';
import type { Delivery, EventType, SentContext, SentEvent } from '../../test/support/oracle/model.ts';

const DAY_MS = 86_400_000;
const PATHS = 400;
const EVENTS_PER_SESSION = 8;
/** Kinds of events in turn. */
const KINDS: readonly EventType[] = [
  'pageview',
  'engagement',
  'pageview',
  'click',
  'pageview',
  'engagement',
  'custom',
  'error',
];

const drawable = (words: ReadonlyMap<string, unknown>, without: RegExp): string[] =>
  [...words.keys()].filter((word) => word !== '' && !without.test(word));
const AGENTS = drawable(USER_AGENTS, /^$/);
const TAGS = drawable(LANGUAGES, /!/);
/** Hosts of the app itself would count as none. */
const HOSTS = drawable(REFERRERS, /shop\.example/);
const SOURCES = drawable(UTM_SOURCES, /[^ -~]/);
const MEDIUMS = drawable(UTM_MEDIUMS, /^$/);

const of = <Item>(list: readonly Item[], n: number): Item => list[n % list.length] as Item;
/** Spreads numbers without a pattern. */
const mixed = (n: number, salt: number): number =>
  (Math.imul(n + 1, 2_654_435_761 ^ (salt * 40_503)) >>> 9) >>> 0;

function contextOf(n: number): SentContext {
  const city = mixed(n, 3) % 60;
  return {
    userAgent: of(AGENTS, mixed(n, 1)),
    language: of(TAGS, mixed(n, 2)),
    screen: n % 2 === 0 ? '1920x1080' : '390x844',
    ...(mixed(n, 4) % 3 === 0 ? { referrer: of(HOSTS, mixed(n, 5)) } : {}),
    ...(mixed(n, 6) % 5 === 0
      ? {
          utm: {
            source: of(SOURCES, mixed(n, 7)),
            medium: of(MEDIUMS, mixed(n, 8)),
            campaign: `campaign-${n % 12}`,
          },
        }
      : {}),
    location: {
      country: 'DE',
      region: `Region ${city % 9}`,
      city: `City ${city}`,
      latitude: 47 + city / 10,
      longitude: 8,
    },
  };
}

function eventOf(n: number, nth: number, at: number): SentEvent {
  const type = of(KINDS, nth);
  // Few paths are frequent, many are rare.
  const path = `/page/${Math.floor(PATHS ** ((mixed(n * 31 + nth, 9) % 10_000) / 10_000))}`;
  return {
    type,
    timestamp: at,
    path,
    ...(type === 'engagement' ? { durationMs: 500 + (mixed(n + nth, 10) % 60_000) } : {}),
    ...(type === 'click' ? { target: `#button-${n % 17}` } : {}),
    ...(type === 'error' ? { message: `Error ${n % 11}` } : {}),
    ...(type === 'custom' ? { name: `goal-${n % 5}` } : {}),
  };
}

/** Session `n` of a visitor of its own, or of an earlier one. Its last event is at `end` (epoch ms). */
export function sessionOf(
  app: { readonly id: string; readonly domain: string },
  n: number,
  end: number,
): Delivery {
  const count = 1 + (mixed(n, 11) % (EVENTS_PER_SESSION * 2 - 1));
  const start = end - (count - 1) * 7_000;
  return {
    appId: app.id,
    appDomain: app.domain,
    session: {
      id: `session-${n}`,
      visitorId: `visitor-${mixed(n, 12) % (Math.floor(n / 3) + 1)}`,
      startedAt: start,
    },
    context: contextOf(n),
    events: Array.from({ length: count }, (_, nth) => eventOf(n, nth, start + nth * 7_000)),
  };
}

/** Sessions with about `events` events, of the last `days` days until `now`. Equal arguments give equal sessions. */
export function history(
  app: { readonly id: string; readonly domain: string },
  { events, days, now }: { readonly events: number; readonly days: number; readonly now: number },
): Delivery[] {
  const sessions = Math.max(1, Math.round(events / EVENTS_PER_SESSION));
  return Array.from({ length: sessions }, (_, n) => {
    const age = ((sessions - 1 - n) / sessions) * days * DAY_MS;
    return sessionOf(app, n, Math.floor(now - 5_000 - age));
  });
}

const iso = (at: number): string => new Date(at).toISOString();

/** The sessions of a batch, as JSON for the wire. */
export const wireSessions = (deliveries: readonly Delivery[]): object[] =>
  deliveries.map(({ session, context, events }) => ({
    ...session,
    startedAt: iso(session.startedAt),
    context,
    events: events.map((event) => ({ ...event, timestamp: iso(event.timestamp) })),
  }));
