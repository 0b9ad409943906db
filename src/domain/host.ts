import { domainToASCII, domainToUnicode } from 'node:url';

/** The most characters of a host (RFC 1035, section 2.3.4). */
const MAX_HOST = 253;
const MAX_PORT = ':65535'.length;
/** All between the scheme and the path. The URL parser skips tabs and line ends. */
const AUTHORITY = /^[a-z][a-z0-9+.-]*:[/\\\t\r\n]*([^/\\?#]*)/i;

/**
 * Parses an address. Null if it is none, or if its host is too long: the parser's time is quadratic in the number of
 * different letters beyond ASCII in a host, and linear in all else.
 */
export function parseUrl(address: string): URL | null {
  const authority = AUTHORITY.exec(address)?.[1];
  if (authority === undefined) return null;
  const host = authority.length - (authority.lastIndexOf('@') + 1);
  return host <= MAX_HOST + MAX_PORT && URL.canParse(address) ? new URL(address) : null;
}

/** Returns the host of an address, in lower case, without port and trailing dot; '' if it has none. */
export function hostnameOf(address: string): string {
  // The parser returns ASCII.
  const host = parseUrl(address)?.hostname.toLowerCase().replace(/\.$/, '') ?? '';
  return isHostname(host) ? host : '';
}

/** Returns whether a host that the URL parser returned may exist. */
export const isHostname = (host: string): boolean => host.length <= MAX_HOST && isIdn(host);

/** Returns whether only this machine reaches the host. */
export const isLoopback = (hostname: string): boolean =>
  ['localhost', '127.0.0.1', '::1', '[::1]'].includes(hostname);

const PUNYCODE = 'xn--';

/**
 * Returns whether the host's labels in punycode (`xn--mnchen-3ya`) are those of their Unicode forms. The URL parser of
 * Node 24 takes any text after `xn--`. Those of Node 20 and 22 refuse it.
 */
function isIdn(hostname: string): boolean {
  const labels = hostname.split('.');
  if (!labels.some((label) => label.startsWith(PUNYCODE))) return true;
  const unicode = labels.map((label) => (label.startsWith(PUNYCODE) ? domainToUnicode(label) : label));
  return (
    !unicode.some((label) => label.startsWith(PUNYCODE)) && domainToASCII(unicode.join('.')) === hostname
  );
}
