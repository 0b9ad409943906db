import { createAttention } from './attention.ts';
import { contextOf } from './landing.ts';
import { on, safe } from './listen.ts';
import { observeClicks, observeErrors } from './observe.ts';
import { asPath, ownPath, watchAddress } from './pages.ts';
import { cleanProperties, type Properties } from './properties.ts';
import { createQueue } from './queue.ts';
import { createSender } from './sender.ts';
import { createSessions } from './sessions.ts';
import type { Settings } from './settings.ts';
import type { Store } from './store.ts';
import { SEEN } from './text.ts';
import { type Detail, type EventType, iso } from './wire.ts';

/** More errors on one page come from a loop and say nothing new. */
const ERRORS_PER_PAGE = 50;
const TEND_MS = 30_000;

/** Part of the page's state, so copies of another version call it. */
export interface Tracker {
  track(name: string, properties?: Properties): void;
  /** Counts a view of the page that the address names, or of `path`. */
  pageview(path?: string): void;
  /** Measures and sends nothing from here on. */
  stop(): void;
}

/** Measures this page. Starts with a pageview, unless the settings leave pageviews to the page. */
export function createTracker(settings: Settings, store: Store): Tracker {
  const queue = createQueue(store);
  let isLanding = true;
  const sessions = createSessions(store, () => contextOf(isLanding));
  const attention = createAttention();
  let own = '';
  let path = '';
  let errors = 0;
  let isGone = false;
  const locate = (named?: string): void => {
    own = ownPath(settings);
    path = asPath(named || settings.path?.(own) || own);
  };
  locate();
  const sender = createSender(settings, store, queue);

  /** `ended`: when the session was over, if the event belongs to it. */
  const record = (type: EventType, detail?: Detail, ended?: number | false): void => {
    if (sender.stopped()) return;
    const { head, at } = sessions.place(Date.now(), ended);
    isLanding = false;
    queue.add(head, { type, timestamp: iso(at), path, ...detail });
    sender.soon();
  };
  const look = (): void =>
    attention.update(!isGone && !document.hidden && document.hasFocus(), Date.now(), sessions.end());
  const flush = (): void => {
    look();
    const { ms: durationMs, from } = attention.take();
    const end = sessions.end();
    if (durationMs) record('engagement', { durationMs }, from <= end && end < Date.now() && end);
  };
  const show = (): void => {
    errors = 0;
    record('pageview');
    look();
  };
  const pageview = (named?: string): void => {
    flush();
    locate(named);
    show();
  };
  const track = (name: string, properties?: Properties): void => {
    const text = String(name).trim().slice(0, 512);
    if (SEEN.test(text)) record('custom', { name: text, properties: cleanProperties(properties) });
  };
  const hide = (): void => {
    flush();
    sender.hurry();
  };

  const isManual = settings.routes === 'manual';
  // What earlier pages left goes before the first event of this one is gathered.
  sender.now();
  if (!isManual) {
    show();
    watchAddress(safe(() => ownPath(settings) !== own && pageview()));
  }
  look();
  on('focus', look);
  on('blur', look);
  on('visibilitychange', () => {
    if (document.hidden) return hide();
    look();
    sender.now();
  });
  on('pagehide', () => {
    isGone = true;
    hide();
    queue.release();
  });
  on('pageshow', (event: PageTransitionEvent) => {
    if (!event.persisted) return;
    isGone = false;
    queue.restore();
    if (!isManual) show();
    look();
    // The answer to what was sent at the end may never come, and others wait for it.
    sender.hurry();
  });
  on('online', sender.now);
  setInterval(safe(sender.soon), TEND_MS);
  observeClicks(record, track, settings);
  observeErrors((text) => {
    if (++errors <= ERRORS_PER_PAGE) record('error', { message: text() });
  });
  return {
    track,
    pageview,
    stop: sender.stop,
  };
}
