import { type ChildProcess, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf } from '../../domain/thrown.ts';
import { CliError } from '../cli-error.ts';
import { inodeOf } from './state.ts';

const CHUNK_BYTES = 256 * 1024;

/** Compressed forms, by their first bytes. Without a `tool`, Node unpacks the form itself. */
const FORMS: readonly { readonly name: string; readonly magic: string; readonly tool?: string }[] = [
  { name: 'gzip', magic: '1f8b' },
  { name: 'zstd', magic: '28b52ffd', tool: 'zstd' },
  // "BZh", the block size, and the first bytes of a block; an empty file has none.
  ...[...'123456789'].flatMap((size) =>
    ['314159265359', '177245385090'].map((block) => ({
      name: 'bzip2',
      magic: Buffer.from(`BZh${size}`).toString('hex') + block,
      tool: 'bzip2',
    })),
  ),
];
const LONGEST_MAGIC = 10;

/** A file, or standard input, as it is read. */
export interface Input {
  /** The bytes, unpacked. */
  readonly bytes: AsyncIterable<Buffer>;
  /** The number of bytes that were read so far, as they are in the file. */
  position(): number;
}

/** Thrown if a name stands for another file than before: logs were rotated. */
export class Moved extends CliError {}

/**
 * Opens a file; null is standard input. Reading rejects with CliError, and with `Moved` if the file is not the one with
 * this inode.
 */
export function openInput(path: string | null, inode: string | null): Input {
  const name = path ?? 'standard input';
  let position = 0;
  async function* raw(): AsyncGenerator<Buffer> {
    const stream = path === null ? process.stdin : await opened(path, inode);
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        position += chunk.length;
        yield chunk;
      }
    } catch (error) {
      throw new CliError(`${name} cannot be read: ${messageOf(error)}.`, { cause: error });
    }
  }
  return { bytes: unpacked(name, raw()), position: () => position };
}

async function opened(path: string, inode: string | null): Promise<Readable> {
  const moved = new Moved(
    `${path} was rotated while it was read: run the import again. Nothing was imported.`,
  );
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw moved;
    throw new CliError(`${path} cannot be read: ${messageOf(error)}.`, { cause: error });
  });
  if (inode !== null && inodeOf(await file.stat()) !== inode) {
    await file.close();
    throw moved;
  }
  return file.createReadStream({ highWaterMark: CHUNK_BYTES });
}

async function* unpacked(name: string, raw: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const head: Buffer[] = [];
  let length = 0;
  while (length < LONGEST_MAGIC) {
    const { value, done } = await raw.next();
    if (done === true) break;
    head.push(value);
    length += value.length;
  }
  const begin = Buffer.concat(head);
  const magic = begin.subarray(0, LONGEST_MAGIC).toString('hex');
  const form = FORMS.find((known) => magic.startsWith(known.magic));
  async function* whole(): AsyncGenerator<Buffer> {
    if (begin.length > 0) yield begin;
    yield* raw;
  }
  if (form === undefined) yield* whole();
  else if (form.tool === undefined) yield* gunzipped(name, whole());
  else yield* throughTool(name, form.name, form.tool, whole());
}

async function* gunzipped(name: string, packed: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  // The error is thrown by the iteration below.
  const stream = pipeline(Readable.from(packed), createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined);
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw damaged(name, 'gzip', messageOf(error));
  }
}

/** Unpacks with a program: `TOOL -dc`. */
async function* throughTool(
  name: string,
  form: string,
  tool: string,
  packed: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const child = spawn(tool, ['-dc'], { stdio: ['pipe', 'pipe', 'pipe'] });
  const said: string[] = [];
  child.stderr.on('data', (text: Buffer) => said.push(text.toString()));
  const ended = endOf(child);
  let failure: unknown = null;
  // A tool that ends early closes its input. Its exit code says why.
  pipeline(Readable.from(packed), child.stdin, (error) => {
    if (error instanceof CliError) failure = error;
  });
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const code = await ended;
    if (failure !== null) throw failure;
    if (code === 'missing') {
      throw new CliError(
        `${name} is compressed with ${form}, and there is no program ${tool} here to unpack it: install ${tool}.`,
      );
    }
    if (code !== 0) throw damaged(name, form, said.join('').trim().split('\n')[0] ?? '');
  } finally {
    child.kill();
  }
}

function endOf(child: ChildProcess): Promise<number | null | 'missing'> {
  return new Promise((resolve) => {
    child.once('error', () => resolve('missing'));
    child.once('close', (code) => resolve(code));
  });
}

const damaged = (name: string, form: string, said: string): CliError =>
  new CliError(`${name} is compressed with ${form} and damaged (${said}). Nothing was imported.`);
