import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Text up to this size stays in memory. */
export const MEMORY_BYTES = 2 * 1024 ** 2;

/** Closes the files of spools that were garbage-collected. */
const unreachable = new FinalizationRegistry<number>((file) => closeSync(file));

/**
 * Text in pieces, which can be iterated again and again. Text over 2 MiB goes into an unnamed temporary file.
 */
export class TextSpool {
  readonly #begun: Buffer[] = [];
  readonly #lengths: number[] = [];
  #bytes = 0;
  #file: number | null = null;

  add(text: string): void {
    const piece = Buffer.from(text);
    this.#lengths.push(piece.length);
    this.#bytes += piece.length;
    if (this.#file !== null) {
      writeWhole(this.#file, piece);
      return;
    }
    this.#begun.push(piece);
    if (this.#bytes > MEMORY_BYTES) this.#moveToFile();
  }

  #moveToFile(): void {
    const path = join(tmpdir(), `rows-${randomUUID()}`);
    const file = openSync(path, 'wx+', 0o600);
    unreachable.register(this, file);
    unlinkSync(path);
    for (const piece of this.#begun.splice(0)) writeWhole(file, piece);
    this.#file = file;
  }

  *[Symbol.iterator](): Generator<string> {
    if (this.#file === null) {
      for (const piece of this.#begun) yield piece.toString();
      return;
    }
    const bytes = Buffer.allocUnsafeSlow(Math.max(...this.#lengths));
    let at = 0;
    for (const length of this.#lengths) {
      for (let read = 0; read < length; ) read += readSome(this.#file, bytes, read, length - read, at + read);
      at += length;
      yield bytes.toString('utf8', 0, length);
    }
  }
}

function writeWhole(file: number, piece: Buffer): void {
  for (let written = 0; written < piece.length; ) written += writeSync(file, piece, written);
}

function readSome(file: number, bytes: Buffer, offset: number, length: number, at: number): number {
  const read = readSync(file, bytes, offset, length, at);
  if (read === 0) throw new Error('a spool ends before its end');
  return read;
}
