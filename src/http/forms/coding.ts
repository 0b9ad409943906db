import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { Body } from './bodies.ts';
import { best, weighted } from './forms.ts';

export type Coding = 'br' | 'gzip';

/** In the order of preference if Accept-Encoding weighs them equally. */
const CODINGS: readonly Coding[] = ['br', 'gzip'];
/** A smaller body is not worth coding: it fits into one packet either way. */
const LEAST_BYTES = 1024;
/** As small as gzip at its best, in the time of gzip's default. */
const BROTLI_QUALITY = 4;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** Returns the codings that the caller accepts, best first. */
export function acceptedCodings(acceptEncoding: string | undefined): readonly Coding[] {
  if (acceptEncoding === undefined) return [];
  const weights = weighted(acceptEncoding);
  const weightOf = (coding: Coding): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const first = best(CODINGS, weightOf);
  return first === undefined
    ? []
    : [first, ...CODINGS.filter((coding) => coding !== first && weightOf(coding) > 0)];
}

/** True if a body of this size is compressed for callers that accept it. */
export const isWorthCoding = (bytes: number): boolean => bytes > LEAST_BYTES;

const kept = new WeakMap<Buffer, Map<Coding, Promise<Buffer>>>();

/** Compresses `body`, once for each buffer: the result is cached as long as the buffer exists. */
export function encode(body: Buffer, coding: Coding): Promise<Buffer> {
  const encodings = kept.get(body) ?? new Map<Coding, Promise<Buffer>>();
  kept.set(body, encodings);
  let encoded = encodings.get(coding);
  if (encoded === undefined) {
    encoded = compress(body, coding);
    encodings.set(coding, encoded);
  }
  return encoded;
}

const brotli = ({ length }: { readonly length: number }) => ({
  params: {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: length,
  },
});

const compress = (body: Buffer, coding: Coding): Promise<Buffer> =>
  coding === 'gzip' ? gzipAsync(body) : brotliAsync(body, brotli(body));

/** Bytes. Its memory goes back to the system at once when it is collected; that of small pieces would not. */
const CODED_PIECE = 128 * 1024;

/** Compresses `body` piece by piece. */
export async function* coded(body: Body, coding: Coding): AsyncGenerator<Buffer> {
  if (body.bytes !== null) {
    yield await compress(body.bytes, coding);
    return;
  }
  const coder =
    coding === 'gzip'
      ? createGzip({ chunkSize: CODED_PIECE })
      : createBrotliCompress({ ...brotli(body), chunkSize: CODED_PIECE });
  // An error ends the coder, and the loop below throws it.
  writeTo(coder, body).catch((error: unknown) => coder.destroy(error as Error));
  for await (const piece of coder) yield piece as Buffer;
}

/** Writes the pieces of a body in turn. */
async function writeTo(coder: Writable, body: Body): Promise<void> {
  const write = promisify((piece: Buffer, done: (error?: Error | null) => void) => coder.write(piece, done));
  for await (const piece of body.pieces(true)) await write(piece);
  coder.end();
}
