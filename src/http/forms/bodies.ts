import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../domain/errors.ts';
import { collectYoungGarbage } from '../../domain/garbage.ts';
import { isNoRoom } from '../../domain/no-room.ts';
import { isOfSystem } from '../../domain/thrown.ts';

/** A body up to this size stays in memory, a larger one in a file: a slow reader holds only a piece of it. */
const MEMORY_BYTES = 256 * 1024;
const PIECE_BYTES = 32 * 1024;
/** The size of all files together. */
const FILE_BYTES = 1024 ** 3;
/** The space of all files together, with those that are being written, and evicted ones that are still read. */
const DISK_BYTES = 2 * FILE_BYTES;
/** Garbage is collected whenever this much was written to files: writing makes several times as much of it. */
const GARBAGE_BYTES = 4 * 1024 ** 2;

/** The bytes of an answer: written once, then read by many at the same time, each at its own pace. */
export interface Body {
  readonly length: number;
  /** The bytes that it takes in the process's memory. */
  readonly memoryBytes: number;
  /** The bytes, if they are in memory. */
  readonly bytes: Buffer | null;
  /** True for a file that was evicted. Reads that have begun go on; new ones fail. */
  readonly isGone: boolean;
  /**
   * The bytes in order. Throws `overloaded` if the body is gone. `isInTurn`: the reader has finished with a piece when
   * it asks for the next, so that all pieces use the same memory.
   */
  pieces(isInTurn?: boolean): AsyncIterable<Buffer>;
}

/** A body in memory. */
export const inMemory = (bytes: Buffer): Body => ({
  length: bytes.length,
  memoryBytes: bytes.length,
  bytes,
  isGone: false,
  async *pieces() {
    yield bytes;
  },
});

/** Makes bodies. Large ones are unnamed files, so nothing is left when the process ends, however it ends. */
export class Bodies {
  readonly #folder: string;
  readonly #files = new LRUCache<FileBody, true>({
    maxSize: FILE_BYTES,
    sizeCalculation: (_, file) => file.length,
    dispose: (_, file) => file.drop(),
  });

  /** Bytes written to files since garbage was collected. */
  #sinceGarbage = 0;
  #onDisk = 0;

  /** `folder` must belong to bodies alone: it is emptied. */
  constructor(folder: string) {
    this.#folder = folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /**
   * Reads `pieces` to the end. They may all use the same memory. If they throw, it rejects with their error and keeps
   * nothing.
   */
  async collect(pieces: AsyncIterable<Uint8Array>): Promise<Body> {
    const begun: Uint8Array[] = [];
    let length = 0;
    let handle: FileHandle | undefined;
    let written = 0;
    try {
      for await (const piece of pieces) {
        length += piece.length;
        if (length > FILE_BYTES) throw tooLarge();
        if (handle !== undefined) {
          written += this.#takeSpace(piece.length);
          await handle.appendFile(piece);
          this.#written(piece.length);
        } else {
          begun.push(Buffer.from(piece));
          if (length <= MEMORY_BYTES) continue;
          written += this.#takeSpace(length);
          handle = await this.#open();
          await handle.appendFile(Buffer.concat(begun.splice(0)));
        }
      }
    } catch (error) {
      await handle?.close();
      this.#onDisk -= written;
      throw refusalOf(error);
    }
    if (handle === undefined) return inMemory(Buffer.concat(begun));
    const file = new FileBody(handle, length, {
      onRead: (read) => void this.#files.get(read),
      onClosed: () => {
        this.#onDisk -= length;
      },
    });
    this.#files.set(file, true);
    return file;
  }

  /** Returns the bytes, which count until the file is closed. */
  #takeSpace(bytes: number): number {
    if (this.#onDisk + bytes > DISK_BYTES) throw gone();
    this.#onDisk += bytes;
    return bytes;
  }

  #written(bytes: number): void {
    this.#sinceGarbage += bytes;
    if (this.#sinceGarbage < GARBAGE_BYTES) return;
    this.#sinceGarbage = 0;
    collectYoungGarbage();
  }

  /** Drops a body that nobody needs any more. A file closes after its last reader. */
  drop(body: Body): void {
    if (body instanceof FileBody) this.#files.delete(body);
  }

  async #open(): Promise<FileHandle> {
    const path = join(this.#folder, randomUUID());
    const handle = await open(path, 'wx+', 0o600);
    await unlink(path);
    return handle;
  }

  /** Drops all files. Each closes after its last reader. */
  close(): void {
    this.#files.clear();
  }
}

interface FileEvents {
  onRead(file: FileBody): void;
  /** Its space is free again. */
  onClosed(): void;
}

class FileBody implements Body {
  readonly length: number;
  readonly memoryBytes = 0;
  readonly bytes = null;
  readonly #handle: FileHandle;
  readonly #events: FileEvents;
  #readers = 0;
  #isClosed = false;
  #isGone = false;

  constructor(handle: FileHandle, length: number, events: FileEvents) {
    this.#handle = handle;
    this.length = length;
    this.#events = events;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  async *pieces(isInTurn = false): AsyncGenerator<Buffer> {
    if (this.#isGone) throw gone();
    this.#events.onRead(this);
    this.#readers++;
    try {
      let piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      for (let at = 0; at < this.length; ) {
        if (!isInTurn) piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, this.length - at));
        const { bytesRead } = await this.#handle.read(piece, 0, piece.length, at);
        if (bytesRead === 0) throw new Error('a body ends before its end');
        at += bytesRead;
        yield piece.subarray(0, bytesRead);
      }
    } finally {
      this.#readers--;
      this.#closeUnused();
    }
  }

  /** Evicts the file. It closes after its last reader. */
  drop(): void {
    this.#isGone = true;
    this.#closeUnused();
  }

  #closeUnused(): void {
    if (!this.#isGone || this.#readers > 0 || this.#isClosed) return;
    this.#isClosed = true;
    void this.#handle
      .close()
      .catch(() => undefined)
      .finally(this.#events.onClosed);
  }
}

function refusalOf(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (isNoRoom(error)) return noRoom(error);
  return isOfSystem(error) ? noFile(error) : error;
}

const noFile = (cause: unknown): AppError =>
  new AppError('store_unavailable', 'The store cannot do this at the moment. Try again later.', {
    forOperator: 'A large answer cannot be kept in the folder DATA_DIR.',
    retryAfterSeconds: 10,
    cause,
  });
const noRoom = (cause: unknown): AppError =>
  new AppError('overloaded', 'There is no room for so large an answer now. Try again later.', {
    forOperator: 'The disk of DATA_DIR is full: there is no room for a large answer.',
    retryAfterSeconds: 10,
    cause,
  });
const gone = (): AppError =>
  new AppError('overloaded', 'Too many large answers at once. Try again shortly.', { retryAfterSeconds: 1 });
const tooLarge = (): AppError =>
  new AppError('overloaded', 'The answer is too large. Ask for a shorter range or a smaller limit.', {
    retryAfterSeconds: 10,
  });
