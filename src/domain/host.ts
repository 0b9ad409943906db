import { domainToASCII, domainToUnicode } from 'node:url';

/** Returns the host of an address, in lower case, without port and trailing dot; '' if it has none. */
export function hostnameOf(address: string): string {
  if (!URL.canParse(address)) return '';
  const host = new URL(address).hostname.toLowerCase().replace(/\.$/, '');
  return isIdn(host) ? host : '';
}

/** Returns whether only this machine reaches the host. */
export const isLoopback = (hostname: string): boolean =>
  ['localhost', '127.0.0.1', '::1', '[::1]'].includes(hostname);

const PUNYCODE = 'xn--';

/**
 * Returns whether the host's labels in punycode (`xn--mnchen-3ya`) are those of their Unicode forms. The URL parser of
 * Node 24 takes any text after `xn--`. Those of Node 20 and 22 refuse it.
 */
export function isIdn(hostname: string): boolean {
  const labels = hostname.split('.');
  if (!labels.some((label) => label.startsWith(PUNYCODE))) return true;
  const unicode = labels.map((label) => (label.startsWith(PUNYCODE) ? domainToUnicode(label) : label));
  return (
    !unicode.some((label) => label.startsWith(PUNYCODE)) && domainToASCII(unicode.join('.')) === hostname
  );
}
