import type { AppError } from '../../domain/errors.ts';
import { etag, namedEtag } from '../answer/etag.ts';
import type { Body } from '../forms/bodies.ts';
import { problem } from '../request/problem.ts';

/** A comment: it keeps proxies from closing a connection without traffic. */
export const COMMENT = Buffer.from(':\n\n');
/** Clients wait this long before they connect again. */
const RECONNECT_MS = 1_000;
export const OPENING = Buffer.from(`retry: ${RECONNECT_MS}\n\n`);

/**
 * True if Last-Event-ID names the answer `tag`. It holds the `id` of an event, or the ETag of an answer in JSON,
 * in any coding.
 */
export const isSeen = (lastEventId: string | undefined, tag: string): boolean =>
  lastEventId !== undefined &&
  namedEtag(lastEventId, [etag(tag), etag(tag, '', 'br'), etag(tag, '', 'gzip')]) !== undefined;

/** The start of an event that gives the answer `tag`. Without data it only sets the reader's last id. */
export const idLine = (tag: string): string => `id: ${etag(tag)}\n`;

/** The data of an event, and its end. The joined lines are the bytes of the body. */
export async function* dataLines(body: Body): AsyncGenerator<Buffer> {
  yield DATA;
  for await (const piece of body.pieces()) yield framed(piece);
  yield END;
}

/** The same in one buffer, for a body in memory. */
export const dataOf = (bytes: Buffer): Buffer => Buffer.concat([DATA, framed(bytes), END]);

const DATA = Buffer.from('data: ');
const END = Buffer.from('\n\n');

/** JSON escapes line ends within texts, so each line end here separates two items. */
function framed(bytes: Buffer): Buffer {
  if (!bytes.includes(0x0a)) return bytes;
  return Buffer.from(bytes.toString('latin1').replaceAll('\n', '\ndata: '), 'latin1');
}

/** The last event of a stream that the service ends. Its data is the body of the error that a request would get. */
export const lastEvent = (error: AppError, requestId: string): string =>
  `event: end\ndata: ${JSON.stringify(problem(error, requestId).body)}\n\n`;
