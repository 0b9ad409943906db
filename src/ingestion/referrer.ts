import { LRUCache } from 'lru-cache';

/** Parsing takes some microseconds, and many sessions have the same referrer. */
const hosts = new LRUCache<string, string>({ max: 2_000 });

/** The host of an `http`/`https` address: lower case, without port and trailing dot; '' for anything else. */
export function hostOf(address: string): string {
  if (address === '') return '';
  const known = hosts.get(address);
  if (known !== undefined) return known;
  const host =
    /^https?:/i.test(address) && URL.canParse(address) ? new URL(address).hostname.replace(/\.$/, '') : '';
  hosts.set(address, host);
  return host;
}

/** True for `own` itself and its subdomains. Hosts as `hostOf` gives them. */
export const isOwnHost = (host: string, own: string): boolean => host === own || host.endsWith(`.${own}`);

/** The host that a session is counted under: without `www.`, '' for none and for the app's own domain. */
export function referrerHost(referrer: string, ownHost: string): string {
  const host = hostOf(referrer);
  return host === '' || isOwnHost(host, ownHost) ? '' : host.replace(/^www\./, '');
}
