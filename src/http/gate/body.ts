import type { Request, Response } from 'express';
import { AppError } from '../../domain/errors.ts';
import { lowerAscii } from '../../domain/fold.ts';
import { isNestedDeeper } from './nesting.ts';

/** A body that is too large is read to its end up to this size, so that its sender receives the answer. */
const LINGER_BYTES = 16 * 1024 * 1024;
/** Limits the bodies that are being read, of all requests of the process together. */
const MAX_READING_BYTES = 128 * 1024 * 1024;
/** A body that takes longer gives way to others when there is no room. So slow senders cannot keep everybody out. */
const SLOW_MS = 5_000;
/** No valid body needs more. Parsing a megabyte of brackets would hold up all requests for a fifth of a second. */
const MAX_LEVELS = 64;
const JSON_TYPE = ['application/json'] as const;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a request's JSON body. Throws `unsupported_media_type` unless it is UTF-8 of one of `types` without a
 * content coding, `payload_too_large` beyond `limit` bytes, and `validation_failed` if it is not JSON or nested in
 * more than 64 levels.
 */
export async function readJson(
  req: Request,
  res: Response,
  limit: number,
  types: readonly string[] = JSON_TYPE,
): Promise<unknown> {
  assertType(req, types);
  const body = await readBytes(req, res, limit);
  if (isNestedDeeper(body, MAX_LEVELS)) throw invalid(`Nested in more than ${MAX_LEVELS} levels.`);
  try {
    return JSON.parse(UTF8.decode(body));
  } catch {
    throw invalid('Not valid JSON in UTF-8.');
  }
}

const invalid = (message: string): AppError =>
  new AppError('validation_failed', 'The body is not valid JSON.', { errors: [{ field: 'body', message }] });

function assertType(req: Request, types: readonly string[]): void {
  const [type, ...parameters] = lowerAscii(req.headers['content-type'] ?? '').split(';');
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  const utf8 = charset === undefined || /^charset="?utf-8"?$/.test(charset);
  const coding = lowerAscii(req.headers['content-encoding'] ?? 'identity');
  if (!types.includes(type?.trim() ?? '') || !utf8 || coding !== 'identity') {
    throw new AppError(
      'unsupported_media_type',
      `Send the body as ${types.join(' or ')} in UTF-8, not compressed.`,
    );
  }
}

/** A body that is being read. */
interface Reading {
  readonly since: number;
  /** Drops what was read, and refuses the request. */
  giveWay(): void;
}

let readingBytes = 0;
/** Those that hold bytes, the oldest first. */
const readings = new Set<Reading>();

/** Returns whether there is room for so many bytes more. Slow bodies give way, the oldest first. */
function makeRoom(bytes: number): boolean {
  const isFull = (): boolean => readingBytes + bytes > MAX_READING_BYTES;
  const slowSince = performance.now() - SLOW_MS;
  for (const reading of readings) {
    if (!isFull() || reading.since > slowSince) break;
    reading.giveWay();
  }
  return !isFull();
}

function readBytes(req: Request, res: Response, limit: number): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > LINGER_BYTES) {
    res.setHeader('Connection', 'close');
    return Promise.reject(tooLarge(limit));
  }
  const chunks: Buffer[] = [];
  let [size, kept] = [0, 0];
  let reading: Reading | undefined;
  const drop = (): void => {
    readingBytes -= kept;
    kept = 0;
    chunks.length = 0;
    if (reading !== undefined) readings.delete(reading);
  };
  return new Promise<Buffer>((resolve, reject) => {
    const giveUp = (error: AppError): void => {
      res.setHeader('Connection', 'close');
      req.removeAllListeners('data');
      drop();
      reject(error);
    };
    reading = { since: performance.now(), giveWay: () => giveUp(tooMany()) };
    readings.add(reading);
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LINGER_BYTES) giveUp(tooLarge(limit));
      else if (size > limit) drop();
      else if (!makeRoom(chunk.length)) giveUp(tooMany());
      else {
        chunks.push(chunk);
        kept += chunk.length;
        readingBytes += chunk.length;
      }
    });
    req.on('end', () => (size > limit ? reject(tooLarge(limit)) : resolve(Buffer.concat(chunks))));
    req.on('error', () => reject(new AppError('bad_request', 'The body ended before its length.')));
  }).finally(drop);
}

const tooLarge = (limit: number): AppError =>
  new AppError('payload_too_large', `The body is larger than ${limit} bytes.`);
const tooMany = (): AppError =>
  new AppError('overloaded', 'Too many bodies at once. Try again shortly.', { retryAfterSeconds: 1 });
