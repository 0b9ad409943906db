import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { Body } from './bodies.ts';
import { best, weighted } from './forms.ts';

export type Coding = 'br' | 'gzip';

/** In the order in which they are preferred where Accept-Encoding likes both alike. */
const CODINGS: readonly Coding[] = ['br', 'gzip'];
/** Below this nothing is won: one packet holds it either way. */
const LEAST_BYTES = 1024;
/** As small as gzip at its best, in the time of gzip's default. */
const BROTLI_QUALITY = 4;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** The codings that the caller takes, best first. */
export function acceptedCodings(acceptEncoding: string | undefined): readonly Coding[] {
  if (acceptEncoding === undefined) return [];
  const weights = weighted(acceptEncoding);
  const weightOf = (coding: Coding): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const first = best(CODINGS, weightOf);
  return first === undefined
    ? []
    : [first, ...CODINGS.filter((coding) => coding !== first && weightOf(coding) > 0)];
}

/** Whether a body of this size goes out compressed, where the caller takes it so. */
export const isWorthCoding = (bytes: number): boolean => bytes > LEAST_BYTES;

const kept = new WeakMap<Buffer, Map<Coding, Promise<Buffer>>>();

/** `body` in a coding; as long as the very same buffer is answered again, it is compressed once. */
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

/** `body` in a coding, piece by piece. */
export async function* coded(body: Body, coding: Coding): AsyncGenerator<Buffer> {
  if (body.bytes !== null) {
    yield await compress(body.bytes, coding);
    return;
  }
  const coder = coding === 'gzip' ? createGzip() : createBrotliCompress(brotli(body));
  // What goes wrong on the way ends the coder, which then throws it below.
  pipeline(body.pieces(), coder, () => undefined);
  for await (const piece of coder) yield piece as Buffer;
}
