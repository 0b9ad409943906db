import { safe, whenShown } from './listen.ts';
import { openStore } from './local-store.ts';
import type { Properties } from './properties.ts';
import { isOn, problemOf, refused, type Settings } from './settings.ts';
import { forget } from './store.ts';
import { isOff, switchBrowser } from './switch.ts';
import { createTracker, type Tracker } from './tracker.ts';
import { debug, NAME, openUp, warn } from './voice.ts';

export type { Properties } from './properties.ts';
export type { Settings } from './settings.ts';

type Trackers = Record<string, Tracker | null>;

/** The page's trackers by app, also those of other copies of this code. Null: the app is not measured, or not yet. */
const trackers = (): Trackers => {
  const page = globalThis as unknown as Record<string, Trackers | undefined>;
  page[NAME] ??= {};
  return page[NAME];
};

/**
 * Starts measuring this page for an app. Later calls for the same app do nothing. With wrong settings it only says on the
 * console what is wrong. Does nothing on a server.
 */
export const init = safe((settings: Settings): void => {
  const { appId } = settings;
  if (isOn(settings.debug)) openUp();
  const problem = problemOf(settings);
  if (problem) warn(problem);
  else if (!(appId in trackers())) {
    trackers()[appId] = null;
    whenShown(() => {
      const store = openStore(`sa:${appId}:`);
      const asked = /^\?(.*&)?analytics=(on|off)(&|$)/.exec(location.search)?.[2];
      if (asked) {
        switchBrowser(asked === 'off');
        warn(`${asked} in this browser`);
      }
      if (isOff() || refused(settings)) {
        forget(store);
        debug('silent');
      } else trackers()[appId] = createTracker(settings, store);
    });
  }
});

const each = <Name extends keyof Tracker>(name: Name) =>
  safe((...args: Parameters<Tracker[Name]>): void =>
    whenShown(() => {
      for (const appId in trackers())
        (trackers()[appId]?.[name] as ((...args: unknown[]) => void) | undefined)?.(...args);
    }),
  );

/**
 * Counts a custom event in every app of the page, such as `track('signup', { plan: 'pro' })`. Cuts the name at 512
 * characters and texts at 256. Does nothing before `init`.
 */
export const track: (name: string, properties?: Properties) => void = each('track');

/** Counts a view of `path`, or of the page that the address names. Later events are of this path. */
export const pageview: (path?: string) => void = each('pageview');

const stop = each('stop');

/**
 * Stops measuring in this browser: this page at once, and all later pages of the site. Removes what the SDK keeps there.
 * `optOut(false)` lets the next page measure again.
 */
export const optOut = safe((out: boolean = true): void => {
  if (out) stop();
  switchBrowser(out);
});
