import { createAttention } from './attention.ts';
import { browserContext, landingContext } from './landing.ts';
import { createQueue } from './queue.ts';
import { createSender } from './sender.ts';
import { createSessions, type Place } from './sessions.ts';
import type { Settings } from './settings.ts';
import type { Store } from './store.ts';
import { type Detail, type EventType, iso } from './wire.ts';

/** More errors on one page come from a loop and say nothing new. */
const ERRORS_PER_PAGE = 50;

/** Handlers for the page's events. */
export interface Tracker {
  record(type: EventType, detail?: Detail): void;
  /** The address may have changed: a new path is a new pageview. */
  moved(): void;
  /** Focus or visibility changed. */
  look(): void;
  /** The page is out of sight: sends all events now. `gone`: probably for good. */
  hide(gone?: boolean): void;
  /** The page is back from the browser's cache. */
  back(): void;
  /** Sends waiting batches soon, including those of other pages. */
  tend(): void;
  /** The network is back: sends at once. */
  online(): void;
}

const looking = (): boolean => document.visibilityState === 'visible' && document.hasFocus();

/** Starts with a pageview of the current page. `endpoint`: the service's origin. */
export function createTracker(settings: Settings, endpoint: string, store: Store): Tracker {
  const { appId, secretKey } = settings;
  const queue = createQueue(store);
  let context = landingContext;
  const sessions = createSessions(store, () => context());
  const attention = createAttention();
  let path = location.pathname;
  let errors = 0;
  let silent = false;
  const sender = createSender({ url: `${endpoint}/sdk/v1/events`, appId, secretKey }, store, queue, () => {
    silent = true;
    for (const batch of queue.all()) queue.remove(batch);
  });

  const put = (type: EventType, { head, at }: Place, detail?: Detail): void => {
    context = browserContext;
    if (silent) return;
    queue.add(head, { type, timestamp: iso(at), path: path.slice(0, 2048), ...detail });
    sender.soon();
  };
  const record = (type: EventType, detail?: Detail): void => {
    if (type === 'error' && ++errors > ERRORS_PER_PAGE) return;
    put(type, sessions.place(Date.now()), detail);
  };
  const look = (on = looking()): void => attention.update(on, Date.now(), sessions.end());
  const flush = (on?: boolean): void => {
    look(on);
    const { ms: durationMs, from } = attention.take();
    const now = Date.now();
    const end = sessions.end();
    if (!durationMs) return;
    put('engagement', from <= end && end < now ? sessions.placeAt(end) : sessions.place(now), { durationMs });
  };
  const view = (): void => {
    path = location.pathname;
    errors = 0;
    record('pageview');
    look();
  };
  view();
  return {
    record,
    look,
    moved() {
      if (location.pathname === path) return;
      flush();
      view();
    },
    hide(gone) {
      flush(false);
      sender.beacon();
      if (gone) queue.release();
    },
    back() {
      queue.restore();
      view();
    },
    tend() {
      queue.tend();
      if (queue.all()[0]) sender.soon();
    },
    online: sender.now,
  };
}
