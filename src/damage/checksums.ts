import { isError } from '../domain/thrown.ts';
import { hashOfBlock } from './city-hash.ts';

/** What `checksums.txt` of a part says of a file. */
export interface FileSum {
  readonly name: string;
  readonly size: number;
  /** 16 bytes. */
  readonly hash: Buffer;
  /** Its blocks have checksums of their own, which the engine compares whenever it reads one. */
  readonly isCompressed: boolean;
}

const HEAD = Buffer.from('checksums format version: 4\n');
const LZ4 = 0x82;
const UNCOMPRESSED = 0x02;
/** The checksum, the method, and the two sizes. */
const BLOCK_HEAD = 25;

/** Reads the text of `checksums.txt`. Null: another version wrote it, or it is damaged, which the engine finds by itself. */
export function readChecksums(text: Buffer): readonly FileSum[] | null {
  try {
    if (!text.subarray(0, HEAD.length).equals(HEAD)) return null;
    const blocks: Buffer[] = [];
    for (let rest = text.subarray(HEAD.length); rest.length > 0; ) {
      const size = rest.readUInt32LE(17);
      const body = rest.subarray(16, 16 + size);
      if (body.length < size || !hashOfBlock(body).equals(rest.subarray(0, 16))) return null;
      blocks.push(unpacked(rest.readUInt8(16), rest.subarray(BLOCK_HEAD, 16 + size), rest.readUInt32LE(21)));
      rest = rest.subarray(16 + size);
    }
    return filesIn(Buffer.concat(blocks));
  } catch (error) {
    // It ends too early.
    if (isError(error) && error.name === 'RangeError') return null;
    throw error;
  }
}

function filesIn(bytes: Buffer): FileSum[] {
  let at = 0;
  const byte = (): number => bytes.readUInt8(at++);
  const number = (): number => {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const next = byte();
      value += (next & 127) * unit;
      if (next < 128) return value;
    }
  };
  const some = (length: number): Buffer => {
    at += length;
    if (at > bytes.length) throw new RangeError('it ends too early');
    return bytes.subarray(at - length, at);
  };
  return Array.from({ length: number() }, () => {
    const name = some(number()).toString();
    const [size, hash, isCompressed] = [number(), some(16), byte() === 1];
    if (isCompressed) {
      number();
      some(16);
    }
    return { name, size, hash, isCompressed };
  });
}

function unpacked(method: number, bytes: Buffer, size: number): Buffer {
  if (method === UNCOMPRESSED) return bytes;
  if (method !== LZ4) throw new RangeError(`the method ${method}`);
  return unpackedLz4(bytes, size);
}

/** Reads a block of LZ4: lengths and literals in turn with copies of what stands before. */
function unpackedLz4(bytes: Buffer, size: number): Buffer {
  const out = Buffer.alloc(size);
  let [at, end] = [0, 0];
  const length = (nibble: number): number => {
    let sum = nibble;
    if (nibble === 15) {
      for (let next = 255; next === 255; sum += next) next = bytes.readUInt8(at++);
    }
    return sum;
  };
  while (at < bytes.length) {
    const token = bytes.readUInt8(at++);
    const literals = length(token >> 4);
    end += bytes.copy(out, end, at, at + literals);
    at += literals;
    if (at >= bytes.length) break;
    const offset = bytes.readUInt16LE(at);
    at += 2;
    const from = end - offset;
    const copied = length(token & 15) + 4;
    for (let i = 0; i < copied; i++) out.writeUInt8(out.readUInt8(from + i), end++);
  }
  return out;
}
