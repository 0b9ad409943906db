import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  read,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  type Answer,
  answerOf,
  broken,
  endingWith,
  LINE_END,
  ROWS_BEGIN,
  ROWS_END,
  rowsIn,
  type Values,
} from './answer.ts';

/** Bytes that are decoded at once. A piece is longer if a row is. */
const PIECE = 256 * 1024;
/** A text up to this size stays in memory, and its rows stay decoded: decoding takes longer than the rest of an answer. */
const MEMORY_BYTES = 2 * 1024 ** 2;
const END = Buffer.from('\n}\n');

/** Closes the files of answers that were garbage-collected. */
const unreachable = new FinalizationRegistry<number>((file) => closeSync(file));
const readInBackground = promisify(read);

/** The text of an answer in format JSONCompact. */
export interface AnswerText {
  /** Bytes. */
  readonly size: number;
  /** Returns the answer, decoded as a whole, and closes the text. Throws if the answer is not whole. */
  rows(): Answer;
  /** Returns the answer. Each iteration of a long one reads its rows anew. Throws if the answer is not whole. */
  list(): Promise<Answer<Iterable<Values>>>;
  close(): void;
}

/** A text in memory. */
export const inMemory = (bytes: Buffer): AnswerText => {
  const rows = (): Answer => answerOf(bytes.toString(), ({ data }) => data);
  return { size: bytes.length, rows, list: async () => rows(), close: () => undefined };
};

/** Reads an answer to its end: into memory up to 2 MiB, a longer one into a file. */
export async function textOf(answer: Readable, signal: AbortSignal | undefined): Promise<AnswerText> {
  const begun: Buffer[] = [];
  let size = 0;
  let file: AnswerFile | undefined;
  try {
    for await (const chunk of endingWith(signal, answer)) {
      size += (chunk as Buffer).length;
      begun.push(chunk as Buffer);
      if (size <= MEMORY_BYTES) continue;
      file ??= new AnswerFile();
      for (const bytes of begun.splice(0)) file.append(bytes);
    }
  } catch (error) {
    file?.close();
    throw error;
  }
  return file ?? inMemory(Buffer.concat(begun));
}

/** A text in a file without a name, so nothing is left when this process ends. */
export class AnswerFile implements AnswerText {
  readonly #file: number;

  constructor() {
    const path = join(tmpdir(), `answer-${randomUUID()}`);
    this.#file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
  }

  /** Another name of the file, for as long as it is open. */
  get path(): string {
    return `/dev/fd/${this.#file}`;
  }

  get size(): number {
    return fstatSync(this.#file).size;
  }

  /** False if the end is missing: the engine does not tell if it could not write the last bytes. */
  get hasEnd(): boolean {
    const end = Buffer.alloc(END.length);
    const at = this.size - end.length;
    if (at < 0) return false;
    readWhole(this.#file, end, end.length, at);
    return end.equals(END);
  }

  append(bytes: Buffer): void {
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#file, bytes, written);
  }

  empty(): void {
    ftruncateSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }

  rows(): Answer {
    try {
      const bytes = Buffer.allocUnsafeSlow(this.size);
      readWhole(this.#file, bytes, bytes.length, 0);
      return answerOf(bytes.toString(), ({ data }) => data);
    } finally {
      this.close();
    }
  }

  async list(): Promise<Answer<Iterable<Values>>> {
    if (this.size <= MEMORY_BYTES) return this.rows();
    try {
      const { frame, pieces, rows } = await this.#scan();
      const answer = answerOf(frame, () => new Rows(this.#file, pieces, rows));
      unreachable.register(answer.rows, this.#file);
      return answer;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Finds the pieces of whole rows. Each row has its own line. `frame`: the text around the rows. */
  async #scan(): Promise<{
    readonly frame: string;
    readonly pieces: readonly Piece[];
    readonly rows: number;
  }> {
    let bytes: Buffer = Buffer.allocUnsafeSlow(PIECE);
    const view = async (at: number): Promise<Buffer> => {
      const { bytesRead } = await readInBackground(this.#file, bytes, 0, bytes.length, at);
      return bytes.subarray(0, bytesRead);
    };
    const head = await view(0);
    const begin = head.indexOf(ROWS_BEGIN);
    if (begin === -1) throw broken(head.toString());
    const before = head.toString('utf8', 0, begin + ROWS_BEGIN.length);
    const pieces: Piece[] = [];
    let rows = 0;
    // Each piece except the first begins with the line end before its first row.
    for (let at = begin + ROWS_BEGIN.length; ; ) {
      const piece = await view(at);
      const end = piece.indexOf(ROWS_END);
      if (end === 0) return { frame: before + piece.toString(), pieces, rows };
      const length = end === -1 ? piece.lastIndexOf(LINE_END) : end;
      if (length > 0) {
        rows += lineEnds(piece, length) + (pieces.length === 0 ? 1 : 0);
        pieces.push({ at, length });
        at += length;
      } else if (piece.length === bytes.length) {
        bytes = Buffer.allocUnsafeSlow(2 * bytes.length);
      } else {
        throw broken(piece.toString());
      }
    }
  }
}

interface Piece {
  readonly at: number;
  /** Bytes. */
  readonly length: number;
}

class Rows implements Iterable<Values> {
  readonly length: number;
  readonly #file: number;
  readonly #pieces: readonly Piece[];

  constructor(file: number, pieces: readonly Piece[], length: number) {
    this.#file = file;
    this.#pieces = pieces;
    this.length = length;
  }

  *[Symbol.iterator](): Generator<Values> {
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, ...this.#pieces.map(({ length }) => length)));
    for (const { at, length } of this.#pieces) {
      readWhole(this.#file, bytes, length, at);
      const rows = rowsIn(bytes.toString('utf8', 0, length));
      if (rows === null) throw new Error('a row of an answer is not JSON');
      yield* rows;
    }
  }
}

/** Counts the line ends among the first `length` bytes. */
function lineEnds(bytes: Buffer, length: number): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_END); at !== -1 && at < length; at = bytes.indexOf(LINE_END, at + 1))
    count++;
  return count;
}

/** Reads `length` bytes at this position of the file to the beginning of `bytes`. */
function readWhole(file: number, bytes: Buffer, length: number, at: number): void {
  for (let done = 0; done < length; ) {
    const read = readSync(file, bytes, done, length - done, at + done);
    if (read === 0) throw new Error('an answer ends before its end');
    done += read;
  }
}
