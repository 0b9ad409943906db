import { domainToASCII, domainToUnicode } from 'node:url';

const PUNYCODE = 'xn--';

/**
 * Whether the labels in punycode (`xn--mnchen-3ya`) are what their Unicode forms make. URL parsers differ in this: that of
 * Node 24 takes any text after `xn--`. So without it, a host would count on one version and not on the other.
 */
export function isIdn(hostname: string): boolean {
  const labels = hostname.split('.');
  if (!labels.some((label) => label.startsWith(PUNYCODE))) return true;
  const unicode = labels.map((label) => (label.startsWith(PUNYCODE) ? domainToUnicode(label) : label));
  return (
    !unicode.some((label) => label.startsWith(PUNYCODE)) && domainToASCII(unicode.join('.')) === hostname
  );
}
