import { randomUUID } from 'node:crypto';

/** The address and credentials for batches. */
export interface Target {
  readonly appId: string;
  readonly secretKey: string;
}

const EVENTS_PER_SESSION = 10;
const SPACING_MS = 7_000;
const PATHS = 300;
/** The templates differ in referrer, campaign, browser and place. */
const TEMPLATES = 64;
const VISITORS = 50_000;
const HISTORY_MS = 30 * 86_400_000;

/** Kinds of events in turn, with about the shares of a shop's site. */
const KINDS = [
  (path: string) => `"type":"pageview","path":"${path}"`,
  (path: string) => `"type":"engagement","path":"${path}","durationMs":5230`,
  (path: string, nth: number) => `"type":"click","path":"${path}","target":"#button-${nth % 9}"`,
  (path: string, nth: number) => `"type":"custom","path":"${path}","name":"goal-${nth % 5}"`,
];
const pageviewsOf = (events: number): number => Math.ceil(events / KINDS.length);

const context = (n: number): string =>
  JSON.stringify({
    referrer: n % 2 === 0 ? `https://www.google.com/search?q=${n}` : '',
    utm: n % 5 === 0 ? { source: 'newsletter', medium: 'email', campaign: `week-${n}` } : null,
    language: 'fa-IR',
    screen: '1920x1080',
    userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${110 + (n % 20)}.0.0.0 Safari/537.36`,
    location: {
      country: 'IR',
      region: 'Tehran',
      city: `City ${n % 16}`,
      latitude: 35 + (n % 16) / 10,
      longitude: 51.4,
    },
  });

/** A session without its beginning, the ids: `{"id":"…","visitorId":"…` + this. */
function sessionTail(events: number, n: number, start: number): string {
  const list = Array.from({ length: events }, (_, nth) => {
    const kind = KINDS[nth % KINDS.length] ?? KINDS[0];
    const at = new Date(start + nth * SPACING_MS).toISOString();
    return `{${kind?.(`/page/${(n * 7 + nth) % PATHS}`, nth)},"timestamp":"${at}"}`;
  });
  return `","startedAt":"${new Date(start).toISOString()}","context":${context(n)},"events":[${list.join(',')}]}`;
}

/** The number of sessions in a batch or a file, and of events in each. */
const sessionsOf = (events: number): { sessions: number; perSession: number } => ({
  sessions: Math.max(1, Math.floor(events / EVENTS_PER_SESSION)),
  perSession: Math.min(events, EVENTS_PER_SESSION),
});

/** Returns a function that makes sessions from templates. They have just begun and have ids of their own. */
function sessionMaker(perSession: number): () => string {
  const now = Date.now();
  const tails = Array.from({ length: TEMPLATES }, (_, n) => sessionTail(perSession, n, now - n * 1_000));
  const run = randomUUID();
  let made = 0;
  return () => {
    const n = made++;
    return `${idsOf(run, n)}${tails[n % TEMPLATES]}`;
  };
}

const idsOf = (run: string, n: number): string => `{"id":"${run}-${n}","visitorId":"visitor-${n % VISITORS}`;

/** Makes batches of `events` events, and counts their pageviews. */
export function batchMaker({ appId, secretKey }: Target, events: number) {
  const { sessions, perSession } = sessionsOf(events);
  const session = sessionMaker(perSession);
  const head = `{"appId":"${appId}","secretKey":"${secretKey}","batchId":"`;
  return {
    pageviews: sessions * pageviewsOf(perSession),
    next: (): string =>
      `${head}${randomUUID()}","sessions":[${Array.from({ length: sessions }, session).join(',')}]}`,
  };
}

/**
 * Returns NDJSON of `events` events of the last 30 days, in the order of time, and the number of their
 * pageviews.
 */
export function historyOf(events: number): { readonly pageviews: number; readonly lines: Iterable<string> } {
  const { sessions, perSession } = sessionsOf(events);
  const run = randomUUID();
  const begin = Date.now() - HISTORY_MS;
  function* lines(): Generator<string> {
    for (let n = 0; n < sessions; n++) {
      const start = begin + Math.floor((n / sessions) * HISTORY_MS);
      yield `${idsOf(run, n)}${sessionTail(perSession, n % TEMPLATES, start)}\n`;
    }
  }
  return { pageviews: sessions * pageviewsOf(perSession), lines: lines() };
}
