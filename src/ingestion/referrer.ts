/** The host of an `http`/`https` address: lower case, without port and trailing dot; '' for anything else. */
export function hostOf(address: string): string {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return '';
  return new URL(address).hostname.replace(/\.$/, '');
}

/** True for `own` itself and its subdomains. Hosts as `hostOf` gives them. */
export const isOwnHost = (host: string, own: string): boolean => host === own || host.endsWith(`.${own}`);

/** The host that a session is counted under: without `www.`, '' for none and for the app's own domain. */
export function referrerHost(referrer: string, ownHost: string): string {
  const host = hostOf(referrer);
  return host === '' || isOwnHost(host, ownHost) ? '' : host.replace(/^www\./, '');
}
