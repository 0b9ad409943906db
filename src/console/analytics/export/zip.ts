/*
 * A zip of a few files, as PKWARE's APPNOTE.TXT describes it: for each file a header and its content, and at the end a
 * directory of all. Sizes and offsets have 32 bits, so all together must be smaller than 4 GiB.
 */

export interface ZipFile {
  readonly name: string;
  readonly text: string;
}

const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 0x0800;
const DEFLATED = 8;

interface Packed {
  readonly name: Uint8Array<ArrayBuffer>;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly crc: number;
  readonly size: number;
  readonly at: number;
}

/** `at` is the time that the files have, as a clock shows it. */
export async function zipOf(files: readonly ZipFile[], at: Date): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const packed: Packed[] = [];
  let offset = 0;
  const add = (...more: Uint8Array<ArrayBuffer>[]): void => {
    parts.push(...more);
    for (const { length } of more) offset += length;
  };
  for (const { name, text } of files) {
    const bytes = new TextEncoder().encode(text);
    const content = await deflated(bytes);
    const file = {
      name: new TextEncoder().encode(name),
      content,
      crc: crcOf(bytes),
      size: bytes.length,
      at: offset,
    };
    packed.push(file);
    add(header(0x04034b50, [], file, at, []), file.name, content);
  }
  const start = offset;
  for (const file of packed) {
    // No comment, the first disk, no attributes, and where the file's own header is.
    const end = [u16(0), u16(0), u16(0), u32(0), u32(file.at)];
    add(header(0x02014b50, [u16(VERSION)], file, at, end), file.name);
  }
  const count = u16(packed.length);
  add(bytesOf([u32(0x06054b50), u16(0), u16(0), count, count, u32(offset - start), u32(start), u16(0)]));
  return new Blob(parts, { type: 'application/zip' });
}

/** The part that the header of a file and its entry in the directory have in common, with what stands around it. */
function header(
  signature: number,
  before: readonly Field[],
  { name, content, crc, size }: Packed,
  at: Date,
  after: readonly Field[],
): Uint8Array<ArrayBuffer> {
  const time = (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1);
  const date = ((at.getFullYear() - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate();
  return bytesOf([
    u32(signature),
    ...before,
    u16(VERSION),
    u16(FLAGS),
    u16(DEFLATED),
    u16(time),
    u16(date),
    u32(crc),
    u32(content.length),
    u32(size),
    u16(name.length),
    u16(0),
    ...after,
  ]);
}

/** A number of two or four bytes, the lowest first. */
type Field = readonly [bytes: 2 | 4, value: number];
const u16 = (value: number): Field => [2, value];
const u32 = (value: number): Field => [4, value];

const bytesOf = (fields: readonly Field[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    fields.flatMap(([bytes, value]) => Array.from({ length: bytes }, (_, i) => (value >>> (8 * i)) & 255)),
  );

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const POLYNOMIAL = 0xedb88320;
const TABLE = Uint32Array.from({ length: 256 }, (_, i) => {
  let value = i;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? POLYNOMIAL ^ (value >>> 1) : value >>> 1;
  return value;
});

/** CRC-32, as in gzip. */
function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
