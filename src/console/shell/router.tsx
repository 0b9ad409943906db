import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from 'react';
import { OPENED } from '../link/opened.ts';

/*
 * The address is the only state of navigation: `usePath` and `useSearch` read it, `go` changes it.
 */

const CHANGED = 'console-address';

function subscribe(listener: () => void): () => void {
  window.addEventListener('popstate', listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener('popstate', listener);
    window.removeEventListener(CHANGED, listener);
  };
}

/** The path, without a slash at its end: `/dashboard/api-keys`. */
export const usePath = (): string =>
  useSyncExternalStore(subscribe, () => location.pathname.replace(/(?<=.)\/+$/, ''));

/** The parameters after the question mark, as text. Read them with URLSearchParams. */
export const useSearch = (): string => useSyncExternalStore(subscribe, () => location.search);

/** A frame's steps would be steps of the page around it. */
const IS_FRAMED = OPENED?.isFramed === true;

/** Goes to an address of the console; `replace` leaves no step in the history. */
export function go(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const isOtherPage = new URL(to, location.href).pathname !== location.pathname;
  history[replace || IS_FRAMED ? 'replaceState' : 'pushState'](null, '', to);
  if (isOtherPage) window.scrollTo(0, 0);
  window.dispatchEvent(new Event(CHANGED));
}

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly to: string;
}

/** A link within the console. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    go(to);
  };
  return <a {...rest} href={to} onClick={follow} />;
}
