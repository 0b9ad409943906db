/*
 * CityHash128 in its version 1.0.2, with which the engine makes the checksums of a part's files. Written anew for small
 * files, with BigInt, after CityHash, which has this licence:
 *
 * Copyright (c) 2011 Google, Inc.
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
 * files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
 * modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
 * Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
 * Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 * WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
 * ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */

const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const K3 = 0xc949d7c7509e6557n;
const MUL = 0x9ddfea08eb382d69n;

type Pair = readonly [bigint, bigint];

const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const times = (a: bigint, b: bigint): bigint => u64(a * b);
const turned = (value: bigint, by: number): bigint =>
  by === 0 ? value : (value >> BigInt(by)) | u64(value << BigInt(64 - by));
const mixed = (value: bigint): bigint => value ^ (value >> 47n);

function joined(low: bigint, high: bigint): bigint {
  const a = mixed(times(low ^ high, MUL));
  return times(mixed(times(high ^ a, MUL)), MUL);
}

function upTo16(bytes: Buffer): bigint {
  const { length } = bytes;
  if (length > 8) {
    const last = bytes.readBigUInt64LE(length - 8);
    return joined(bytes.readBigUInt64LE(0), turned(u64(last + BigInt(length)), length)) ^ last;
  }
  if (length >= 4) {
    const first = BigInt(bytes.readUInt32LE(0));
    return joined(BigInt(length) + (first << 3n), BigInt(bytes.readUInt32LE(length - 4)));
  }
  if (length === 0) return K2;
  const y = BigInt(bytes.readUInt8(0) + (bytes.readUInt8(length >> 1) << 8));
  const z = BigInt(length + (bytes.readUInt8(length - 1) << 2));
  return times(mixed(times(y, K2) ^ times(z, K3)), K2);
}

function of32(bytes: Buffer, at: number, first: bigint, second: bigint): Pair {
  const word = (i: number): bigint => bytes.readBigUInt64LE(at + 8 * i);
  const a = u64(first + word(0));
  const sum = u64(a + word(1) + word(2));
  const b = u64(turned(u64(second + a + word(3)), 21) + turned(sum, 44));
  return [u64(sum + word(3)), u64(b + a)];
}

function short(bytes: Buffer, [seedA, seedB]: Pair): Pair {
  let [a, b] = [seedA, seedB];
  let [c, d] = [0n, 0n];
  const { length } = bytes;
  if (length <= 16) {
    a = times(mixed(times(a, K1)), K1);
    c = u64(times(b, K1) + upTo16(bytes));
    d = mixed(u64(a + (length >= 8 ? bytes.readBigUInt64LE(0) : c)));
  } else {
    c = joined(u64(bytes.readBigUInt64LE(length - 8) + K1), a);
    d = joined(u64(b + BigInt(length)), u64(c + bytes.readBigUInt64LE(length - 16)));
    a = u64(a + d);
    for (let at = 0; at < length - 16; at += 16) {
      a = times(a ^ times(mixed(times(bytes.readBigUInt64LE(at), K1)), K1), K1);
      b ^= a;
      c = times(c ^ times(mixed(times(bytes.readBigUInt64LE(at + 8), K1)), K1), K1);
      d ^= c;
    }
  }
  a = joined(a, c);
  b = joined(d, b);
  return [a ^ b, joined(b, a)];
}

/** Hashes bytes, with the hash of those before them as the seed. */
function cityHash128(bytes: Buffer, seed: Pair): Pair {
  const { length } = bytes;
  if (length < 128) return short(bytes, seed);
  const at = (i: number): bigint => bytes.readBigUInt64LE(i);
  let [x, y] = seed;
  let z = times(BigInt(length), K1);
  let v1 = u64(times(turned(y ^ K1, 49), K1) + at(0));
  let v2 = u64(times(turned(v1, 42), K1) + at(8));
  let w1 = u64(times(turned(u64(y + z), 35), K1) + x);
  let w2 = times(turned(u64(x + at(88)), 53), K1);
  let i = 0;
  for (; length - i >= 128; i += 128) {
    for (const from of [i, i + 64]) {
      x = times(turned(u64(x + y + v1 + at(from + 16)), 37), K1) ^ w2;
      y = times(turned(u64(y + v2 + at(from + 48)), 42), K1) ^ v1;
      z = turned(z ^ w1, 33);
      [v1, v2] = of32(bytes, from, times(v2, K1), u64(x + w1));
      [w1, w2] = of32(bytes, from + 32, u64(z + w2), y);
      [z, x] = [x, z];
    }
  }
  const rest = length - i;
  y = u64(y + times(turned(w1, 37), K0) + z);
  x = u64(x + times(turned(u64(v1 + z), 49), K0));
  for (let done = 32; done - 32 < rest; done += 32) {
    const from = length - done;
    y = u64(times(turned(u64(y - x), 42), K0) + v2);
    w1 = u64(w1 + at(from + 16));
    x = u64(times(turned(x, 49), K0) + w1);
    w1 = u64(w1 + v1);
    [v1, v2] = of32(bytes, from, v1, v2);
  }
  x = joined(x, v1);
  y = joined(y, w1);
  return [u64(joined(u64(x + v2), w2) + y), joined(u64(x + w2), u64(y + v2))];
}

const BLOCK = 2_048;

/** The checksum of a block that the engine has compressed: 16 bytes. */
export function hashOfBlock(bytes: Buffer): Buffer {
  // Without a seed, the first 16 bytes are one.
  if (bytes.length < 16) throw new Error('a block has at least 16 bytes');
  const seed: Pair = [bytes.readBigUInt64LE(0) ^ K3, bytes.readBigUInt64LE(8)];
  return written(cityHash128(bytes.subarray(16), seed));
}

/** The checksum of a file: 16 bytes. The engine hashes its blocks one after the other. */
export function hashOfFile(bytes: Buffer): Buffer {
  let hash: Pair = [0n, 0n];
  for (let at = 0; at < bytes.length; at += BLOCK) hash = cityHash128(bytes.subarray(at, at + BLOCK), hash);
  return written(hash);
}

function written([low, high]: Pair): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(low, 0);
  bytes.writeBigUInt64LE(high, 8);
  return bytes;
}
