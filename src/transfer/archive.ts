import { createHash, type Hash } from 'node:crypto';
import { pipeline, type Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { extract, pack } from 'tar-stream';

/** A file in an archive. */
export interface Piece {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The archive was cut, changed, or is another file. */
export class BrokenArchive extends Error {
  override readonly name = 'BrokenArchive';
}

/** The last piece: the SHA-256 of the names and bytes of all others. An archive without it was cut. */
const END = 'checksum';
/** The most bytes of one piece. Those of an export have a few MB, and 48 at most. */
const MAX_PIECE = 64 * 1024 ** 2;

/** Writes pieces as a tar archive, as fast as it is read. If they throw, so does the archive. */
export function archiveOf(pieces: AsyncIterable<Piece>): Readable {
  const archive = pack();
  const add = ({ name, bytes }: Piece): Promise<void> =>
    new Promise((resolve, reject) => {
      archive.entry({ name }, bytes, (error) => (error ? reject(error) : resolve()));
    });
  const write = async (): Promise<void> => {
    const sum = createHash('sha256');
    for await (const piece of pieces) {
      await addTo(sum, piece);
      await add(piece);
    }
    await add({ name: END, bytes: Buffer.from(sum.digest('hex')) });
    archive.finalize();
  };
  write().catch((error: unknown) => archive.destroy(error as Error));
  return archive as unknown as Readable;
}

/** Reads an archive piece by piece. Throws BrokenArchive if it is not whole, at the end at the latest. */
export async function* piecesOf(file: Readable): AsyncGenerator<Piece> {
  const sum = createHash('sha256');
  let found: string | null = null;
  const entries = extract();
  pipeline(file, entries as unknown as NodeJS.WritableStream, () => undefined);
  try {
    for await (const entry of entries) {
      const { name, size = 0 } = entry.header;
      if (found !== null || size > MAX_PIECE) throw new BrokenArchive(`it has an unexpected part ${name}`);
      const chunks: Buffer[] = [];
      for await (const chunk of entry) chunks.push(chunk as Buffer);
      const piece = { name, bytes: Buffer.concat(chunks) };
      if (name === END) {
        found = piece.bytes.toString('latin1');
        continue;
      }
      await addTo(sum, piece);
      yield piece;
    }
  } catch (error) {
    if (error instanceof BrokenArchive) throw error;
    throw new BrokenArchive('it is no tar archive, or ends too early', { cause: error });
  }
  if (found === null) throw new BrokenArchive('it ends too early');
  if (found !== sum.digest('hex')) throw new BrokenArchive('its checksum differs');
}

/** Bytes that are hashed at once. Others have the event loop in between. */
const HASHED_BYTES = 4 * 1024 ** 2;

async function addTo(sum: Hash, { name, bytes }: Piece): Promise<void> {
  sum.update(`${name}\0${bytes.length}\0`);
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    if (at > 0) await setImmediate();
    sum.update(bytes.subarray(at, at + HASHED_BYTES));
  }
}
