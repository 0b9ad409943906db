import { keepInTab, keptInTab } from '../parts/kept.ts';

/*
 * The link that this window shows, if it shows one: the page of an app for somebody without an account. Its token comes in
 * the fragment, which browsers send to nobody. It leaves the address at once, and stays in this tab, so that the page can
 * be loaded again. No cookie is needed: frames of other sites have none.
 */

export interface OpenedLink {
  /** True below /embed: the page stands in a frame of another site. */
  readonly isFramed: boolean;
  /** Empty: the address has none. */
  readonly token: string;
}

const TOKEN = /^\w+$/;
const PAGE = /^\/(shared|embed)\/([0-9a-f-]{36})$/;

function openedLink(): OpenedLink | null {
  const [, kind, id] = PAGE.exec(location.pathname) ?? [];
  if (kind === undefined) return null;
  const key = `console-link-${id}`;
  const given = TOKEN.exec(location.hash.slice(1))?.[0] ?? '';
  if (given !== '') {
    keepInTab(key, given);
    history.replaceState(null, '', `${location.pathname}${location.search}`);
  }
  return { isFramed: kind === 'embed', token: given === '' ? (keptInTab(key) ?? '') : given };
}

/** Null in the console itself. */
export const OPENED: OpenedLink | null = openedLink();
