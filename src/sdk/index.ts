import { openStore } from './local-store.ts';
import { observe } from './observe.ts';
import { problemOf, refused, type Settings } from './settings.ts';
import { createTracker, type Tracker } from './tracker.ts';
import { debug, openUp, warn } from './voice.ts';
import type { Properties } from './wire.ts';

export type { Settings } from './settings.ts';
export type { Properties } from './wire.ts';

let initialised = false;
let tracker: Tracker | undefined;

function start(settings: Settings): void {
  const store = openStore(`sa:${settings.appId}:`);
  if (refused(settings)) {
    for (const key of store.keys('')) store.set(key);
    debug('silent, because the browser asks not to be tracked');
    return;
  }
  const endpoint = (settings.endpoint ?? location.origin).replace(/\/+$/, '');
  tracker = createTracker(settings, endpoint, store);
  observe(tracker);
}

/** Starts measuring this page. Later calls do nothing. With wrong settings it only says on the console what is wrong. */
export function init(settings: Settings): void {
  if (initialised) return;
  if (settings.debug) openUp();
  const problem = problemOf(settings);
  if (problem) {
    warn(`${problem}. Nothing is measured.`);
    return;
  }
  initialised = true;
  // A page that the browser loads in advance may never be seen.
  if ((document as Document & { prerendering?: boolean }).prerendering) {
    document.addEventListener('prerenderingchange', () => start(settings), { once: true });
  } else start(settings);
}

/** Copies properties: the page may change its object before they are sent. They may come from JavaScript. */
function copyOf(properties: Properties | undefined): Properties | undefined {
  try {
    return properties && JSON.parse(JSON.stringify(properties));
  } catch {
    warn('the properties of an event are no JSON and are left out');
    return undefined;
  }
}

/**
 * Counts a custom event, such as `track('signup', { plan: 'pro' })`. Cuts the name at 512 characters. Does nothing before
 * `init`.
 */
export function track(name: string, properties?: Properties): void {
  const text = String(name).trim().slice(0, 512);
  if (text) tracker?.record('custom', { name: text, properties: copyOf(properties) });
}
