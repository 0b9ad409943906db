import { clickTarget } from './targets.ts';
import type { Tracker } from './tracker.ts';

const TEND_MS = 30_000;

/** Keeps the SDK's own errors away from the page. */
const safe =
  <Args extends unknown[]>(work: (...args: Args) => void) =>
  (...args: Args): void => {
    try {
      work(...args);
    } catch {
      // Dropped: the page must not see it.
    }
  };

const errorDetail = (thrown: unknown) => ({ message: String(thrown).slice(0, 1024) || 'Error' });

const watchHistory = (moved: () => void): void => {
  for (const method of ['pushState', 'replaceState'] as const) {
    const original = history[method];
    history[method] = function (...args) {
      original.apply(this, args);
      moved();
    };
  }
  addEventListener('popstate', moved);
};

const watchSight = (tracker: Tracker): void => {
  const hidden = () => document.visibilityState === 'hidden';
  for (const change of ['focus', 'blur'])
    addEventListener(
      change,
      safe(() => tracker.look()),
    );
  document.addEventListener(
    'visibilitychange',
    safe(() => {
      if (hidden()) return tracker.hide();
      tracker.look();
      tracker.tend();
    }),
  );
  addEventListener(
    'pagehide',
    safe(() => tracker.hide(true)),
  );
  addEventListener(
    'pageshow',
    safe((event: PageTransitionEvent) => event.persisted && tracker.back()),
  );
};

/**
 * Connects the tracker to the page: clicks, errors, navigation inside the page, and the page's coming and
 * going.
 */
export function observe(tracker: Tracker): void {
  watchHistory(safe(tracker.moved));
  watchSight(tracker);
  addEventListener(
    'click',
    safe(({ target, isTrusted }: MouseEvent) => {
      const name = isTrusted && target instanceof Element && clickTarget(target);
      if (name) tracker.record('click', { target: name });
    }),
    true,
  );
  addEventListener(
    'error',
    safe(({ error, message }: ErrorEvent) => tracker.record('error', errorDetail(error ?? message))),
  );
  addEventListener(
    'unhandledrejection',
    safe(({ reason }) => tracker.record('error', errorDetail(reason))),
  );
  addEventListener('online', safe(tracker.online));
  setInterval(safe(tracker.tend), TEND_MS);
}
