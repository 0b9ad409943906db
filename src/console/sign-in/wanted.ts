/*
 * The address that somebody opened before signing in. A link signs in in another window, and a provider leads back to the
 * first page, so it is kept in the browser, for an hour.
 */

const KEPT = 'console-wanted';
const KEPT_MS = 3_600_000;

interface Wanted {
  readonly to: string;
  readonly at: number;
  /** True once the person went to the provider. */
  readonly isByProvider: boolean;
}

export function keepWanted(isByProvider = false): void {
  const { pathname, search } = location;
  const known = read();
  const to = pathname === '/dashboard/sign-in' ? (known?.to ?? '/dashboard') : `${pathname}${search}`;
  localStorage.setItem(KEPT, JSON.stringify({ to, at: Date.now(), isByProvider } satisfies Wanted));
}

/** Returns the address once; the first page if there is none. */
export function takeWanted(): string {
  const wanted = read();
  localStorage.removeItem(KEPT);
  return wanted?.to ?? '/dashboard';
}

/** The same for somebody whom the provider led back; null for others. */
export const takeWantedOfProvider = (): string | null =>
  read()?.isByProvider === true ? takeWanted() : null;

function read(): Wanted | null {
  try {
    const wanted = JSON.parse(localStorage.getItem(KEPT) ?? 'null') as Wanted | null;
    const isOwn = /^\/dashboard(?:[/?]|$)/.test(wanted?.to ?? '');
    return wanted !== null && isOwn && Date.now() - wanted.at < KEPT_MS ? wanted : null;
  } catch {
    return null;
  }
}
