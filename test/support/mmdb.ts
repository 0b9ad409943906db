import { isIPv4 } from 'node:net';

/** A value of a record. */
export type MmdbValue = string | number | readonly MmdbValue[] | { readonly [key: string]: MmdbValue };

const IPV6_BITS = 128;
/** IPv4 addresses are at ::/96. */
const IPV4_PREFIX_BITS = 96;
const SEPARATOR_BYTES = 16;
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const TYPE = { string: 2, double: 3, uint16: 5, uint32: 6, map: 7, array: 11 } as const;

type Node = [Node | number | null, Node | number | null];

/**
 * Makes a small database in MaxMind's format (version 2.0, 24-bit records) from networks such as
 * `203.0.113.0/24` and their records. Networks must not overlap.
 */
export function mmdb(networks: Readonly<Record<string, MmdbValue>>): Buffer {
  const root: Node = [null, null];
  const data: Buffer[] = [];
  let size = 0;
  for (const [network, value] of Object.entries(networks)) {
    insert(root, bitsOf(network), size);
    const encoded = encode(value);
    data.push(encoded);
    size += encoded.length;
  }
  const nodes = number(root);
  const tree = Buffer.concat(nodes.map((node) => record(node, nodes)));
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: 'Test-City',
    description: { en: 'test' },
    ip_version: 6,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 24,
  });
  return Buffer.concat([tree, Buffer.alloc(SEPARATOR_BYTES), ...data, MARKER, metadata]);
}

function bitsOf(network: string): number[] {
  const [address = '', length = ''] = network.split('/');
  if (!isIPv4(address)) throw new Error(`not an IPv4 network: ${network}`);
  const bits = address
    .split('.')
    .flatMap((part) => Array.from({ length: 8 }, (_, i) => (Number(part) >> (7 - i)) & 1));
  return [...Array<number>(IPV4_PREFIX_BITS).fill(0), ...bits.slice(0, Number(length))];
}

function insert(root: Node, bits: readonly number[], offset: number): void {
  let node = root;
  bits.forEach((bit, depth) => {
    const side = bit === 0 ? 0 : 1;
    if (depth === bits.length - 1 || depth === IPV6_BITS - 1) {
      node[side] = offset;
      return;
    }
    const next = node[side];
    if (typeof next === 'number') throw new Error('networks overlap');
    node[side] = next ?? [null, null];
    node = node[side] as Node;
  });
}

/** Numbers all nodes; the root is first. */
function number(root: Node): Node[] {
  const nodes = [root];
  for (const node of nodes) {
    for (const side of node) if (Array.isArray(side)) nodes.push(side);
  }
  return nodes;
}

function record(node: Node, nodes: readonly Node[]): Buffer {
  const bytes = Buffer.alloc(6);
  node.forEach((side, i) => {
    const value =
      side === null
        ? nodes.length
        : typeof side === 'number'
          ? nodes.length + SEPARATOR_BYTES + side
          : nodes.indexOf(side);
    bytes.writeUIntBE(value, 3 * i, 3);
  });
  return bytes;
}

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([control(TYPE.string, text.length), text]);
  }
  if (typeof value === 'number') return encodeNumber(value);
  if (Array.isArray(value)) return Buffer.concat([control(TYPE.array, value.length), ...value.map(encode)]);
  const entries = Object.entries(value);
  return Buffer.concat([
    control(TYPE.map, entries.length),
    ...entries.flatMap(([key, each]) => [encode(key), encode(each)]),
  ]);
}

/** Encodes non-negative whole numbers as integers, all others as doubles. */
function encodeNumber(value: number): Buffer {
  if (Number.isInteger(value) && value >= 0) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(TYPE.uint32, 4), bytes]);
  }
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return Buffer.concat([control(TYPE.double, 8), bytes]);
}

/** Encodes type and size. Types above 7 take a byte of their own; sizes up to 284 are enough here. */
function control(type: number, size: number): Buffer {
  const [short, more] = size < 29 ? [size, []] : [29, [size - 29]];
  return Buffer.from(type <= 7 ? [(type << 5) | short, ...more] : [short, type - 7, ...more]);
}
