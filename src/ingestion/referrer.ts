import { LRUCache } from 'lru-cache';
import { hostnameOf } from '../domain/host.ts';

/** A cache: parsing takes some microseconds, and many sessions have the same referrer. */
const hosts = new LRUCache<string, string>({ max: 2_000 });

/**
 * Returns the host of an `http`/`https` address, in lower case, without port and trailing dot; '' for any
 * other text.
 */
export function hostOf(address: string): string {
  if (address === '') return '';
  const known = hosts.get(address);
  if (known !== undefined) return known;
  const host = /^https?:/i.test(address) ? hostnameOf(address) : '';
  hosts.set(address, host);
  return host;
}

/** True for `own` itself and its subdomains. Takes hosts in the form of `hostOf`. */
export const isOwnHost = (host: string, own: string): boolean => host === own || host.endsWith(`.${own}`);

/**
 * Returns the host under which a session is counted, without `www.`; '' for no host and for the app's own
 * domain.
 */
export function referrerHost(referrer: string, ownHost: string): string {
  const host = hostOf(referrer);
  return host === '' || isOwnHost(host, ownHost) ? '' : host.replace(/^www\./, '');
}
