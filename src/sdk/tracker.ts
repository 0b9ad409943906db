import { createAttention } from './attention.ts';
import { browserContext, landingContext } from './landing.ts';
import { on, safe } from './listen.ts';
import { observeClicks, observeErrors } from './observe.ts';
import { asPath, ownPath, sentPath, watchAddress } from './pages.ts';
import { cleanProperties, type Properties } from './properties.ts';
import { createQueue } from './queue.ts';
import { createSender } from './sender.ts';
import { createSessions, type Place } from './sessions.ts';
import { endpointUrl, type Settings } from './settings.ts';
import { forget, type Store } from './store.ts';
import { type Detail, type EventType, iso } from './wire.ts';

/** More errors on one page come from a loop and say nothing new. */
const ERRORS_PER_PAGE = 50;
const TEND_MS = 30_000;

/** Part of the page's state, so copies of another version call it. */
export interface Tracker {
  track(name: string, properties?: Properties): void;
  /** Counts a view of the page that the address names, or of `path`. */
  pageview(path?: string): void;
  /** Measures nothing from here on, and removes all that is kept. */
  stop(): void;
}

/** Measures this page. Starts with a pageview, unless the settings leave pageviews to the page. */
export function createTracker(settings: Settings, store: Store): Tracker {
  const queue = createQueue(store);
  let context = landingContext;
  const sessions = createSessions(store, () => context());
  const attention = createAttention();
  let own = ownPath(settings);
  let path = sentPath(settings, own);
  let errors = 0;
  let silent = false;
  const silence = (): void => {
    silent = true;
    for (const batch of queue.all()) queue.remove(batch);
  };
  const sender = createSender(settings, `${endpointUrl(settings)}/sdk/v1/events`, store, queue, silence);

  const put = (type: EventType, place: () => Place, detail?: Detail): void => {
    if (silent) return;
    const { head, at } = place();
    context = browserContext;
    queue.add(head, { type, timestamp: iso(at), path, ...detail });
    sender.soon();
  };
  const record = (type: EventType, detail?: Detail): void => {
    if (type === 'error' && ++errors > ERRORS_PER_PAGE) return;
    put(type, () => sessions.place(Date.now()), detail);
  };
  const look = (visible = !document.hidden && document.hasFocus()): void =>
    attention.update(visible, Date.now(), sessions.end());
  const flush = (visible?: boolean): void => {
    look(visible);
    const { ms: durationMs, from } = attention.take();
    const now = Date.now();
    const end = sessions.end();
    const place = () => (from <= end && end < now ? sessions.placeAt(end) : sessions.place(now));
    if (durationMs) put('engagement', place, { durationMs });
  };
  const show = (next = path): void => {
    path = next;
    errors = 0;
    record('pageview');
    look();
  };
  const pageview = (named?: string): void => {
    flush();
    own = ownPath(settings);
    show(named ? asPath(named) : sentPath(settings, own));
  };
  const track = (name: string, properties?: Properties): void => {
    const text = String(name).trim().slice(0, 512);
    if (text) record('custom', { name: text, properties: cleanProperties(properties) });
  };
  const tend = (): void => {
    queue.tend();
    if (queue.all()[0]) sender.soon();
  };
  const hide = (): void => {
    flush(false);
    sender.leave();
  };

  if (settings.routes !== 'manual') {
    show();
    watchAddress(safe(() => ownPath(settings) !== own && pageview()));
  }
  look();
  on('focus', () => look());
  on('blur', () => look());
  on('visibilitychange', () => {
    if (document.hidden) return hide();
    look();
    tend();
  });
  on('pagehide', () => {
    hide();
    queue.release();
  });
  on('pageshow', (event: PageTransitionEvent) => {
    if (!event.persisted) return;
    queue.restore();
    show();
  });
  on('online', sender.now);
  setInterval(safe(tend), TEND_MS);
  observeClicks(record, track, settings);
  observeErrors(record);
  return {
    track,
    pageview,
    stop() {
      silence();
      forget(store);
    },
  };
}
