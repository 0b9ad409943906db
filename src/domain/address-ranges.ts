import { BlockList, isIP, isIPv4 } from 'node:net';
import { clientAddress } from './address.ts';

const WHOLE = { ipv4: 32, ipv6: 128 };
const MAPPED = WHOLE.ipv6 - WHOLE.ipv4;

const familyOf = (address: string): keyof typeof WHOLE => (isIPv4(address) ? 'ipv4' : 'ipv6');

/**
 * Returns a range of addresses in its one text: `192.0.2.0/24`, `2001:db8::/32`. `text` is an address or CIDR in any
 * spelling; a range of IPv4-mapped IPv6 is one of IPv4. Undefined for anything else.
 */
export function addressRange(text: string): string | undefined {
  const [, written = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  const address = isIP(written) === 0 ? undefined : clientAddress(written);
  if (address === undefined) return undefined;
  const whole = WHOLE[familyOf(address)];
  const skipped = isIPv4(address) && !isIPv4(written) ? MAPPED : 0;
  const prefix = bits === undefined ? whole : Number(bits) - skipped;
  return prefix < 0 || prefix > whole ? undefined : `${address}/${prefix}`;
}

/** Returns a function that tells whether a client's address is in one of the ranges. */
export function inRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix = ''] = range.split('/');
    list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return (text) => {
    const address = clientAddress(text);
    return address !== undefined && list.check(address, familyOf(address));
  };
}
