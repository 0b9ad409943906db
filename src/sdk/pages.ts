import { type Settings, unslashed } from './settings.ts';

const LOOK_MS = 250;

/** Returns `text` as a path, without query and fragment. */
export const asPath = (text: string): string => text.replace(/^\/?([^?#]*).*/s, '/$1').slice(0, 2_048);

/** The page's path, by its address. */
export function ownPath({ routes }: Settings): string {
  const { hash, pathname } = location;
  const route = routes === 'hash' && /^#!?(\/[^?#]*)/.exec(hash);
  return route ? unslashed(pathname) + route[1] : pathname;
}

type Navigated = Window & { readonly navigation?: EventTarget };

/**
 * Calls `moved` when the address may have changed, whoever changed it. Older browsers do not tell. A router may have taken
 * `pushState` before, so its call cannot be seen.
 */
export function watchAddress(moved: () => void): void {
  const { navigation } = window as Navigated;
  if (navigation) navigation.addEventListener('currententrychange', moved);
  else setInterval(moved, LOOK_MS);
}
