import { isIPv4, isIPv6 } from 'node:net';

/** An IPv6 address in brackets, with a zone and a port, has at most 70 characters. */
const MAX_LENGTH = 80;
/** The port after an IPv4 address, after brackets, or after all eight groups of an IPv6 address. */
const PORT = /^((?:[^.:]*:)*\d+(?:\.\d+){3}|\[[^\]]*\]|[^.:]+(?::[^.:]+){7}):\d{1,5}$/;

/**
 * Returns the address of a client in its one canonical text, so that one client has one address: IPv4 with dots, IPv6
 * as RFC 5952 writes it. `text` is a header's or log's field in any spelling: with a port, brackets, quotes or a zone,
 * as IPv4-mapped IPv6, or as a list, whose first address is the client. Undefined for anything else, such as a name.
 */
export function clientAddress(text: string): string | undefined {
  // Nearly all addresses.
  if (isIPv4(text)) return text;
  const first = firstOf(text);
  if (first.length > MAX_LENGTH) return undefined;
  const address = (PORT.exec(first)?.[1] ?? first).replace(/^\[([^\]]*)\]$/, '$1');
  if (isIPv4(address)) return address;
  const unzoned = address.replace(/%.+$/s, '');
  return isIPv6(unzoned) ? ipv6(unzoned) : undefined;
}

/** Returns the first element that is not empty, without quotes. */
function firstOf(list: string): string {
  let [start, end] = [0, 0];
  while (start < list.length) {
    end = list.indexOf(',', start);
    if (end < 0) end = list.length;
    const element = list.slice(start, end).trim();
    if (element !== '') return element.replace(/^"([^"]*)"$/, '$1');
    start = end + 1;
  }
  return '';
}

function ipv6(address: string): string {
  const groups = groupsOf(address);
  const [upper = 0, lower = 0] = groups.slice(6);
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return `${upper >> 8}.${upper & 255}.${lower >> 8}.${lower & 255}`;
  const text = groups.map((group) => group.toString(16));
  const { start, length } = longestZeros(groups);
  if (length < 2) return text.join(':');
  return `${text.slice(0, start).join(':')}::${text.slice(start + length).join(':')}`;
}

/** Returns the eight groups of a valid address. */
function groupsOf(address: string): number[] {
  const [head = [], tail] = address
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').flatMap(groupOf)));
  if (tail === undefined) return head;
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

/** The last group may be an IPv4 address, which is two groups. */
function groupOf(text: string): number[] {
  if (!text.includes('.')) return [parseInt(text, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** The first of the longest runs. */
function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let length = 0;
  for (const [index, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { start: index + 1 - length, length };
  }
  return longest;
}
