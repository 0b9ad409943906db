import type { Request, Response } from 'express';
import type { Body } from '../forms/bodies.ts';
import { acceptedCodings, type Coding, encode, isWorthCoding } from '../forms/coding.ts';
import type { Column } from '../forms/columns.ts';
import { chooseForm, JSON_FORM, LIST_FORMS } from '../forms/forms.ts';
import { contextOf, serverTiming } from '../request/context.ts';
import type { Versioned } from './answers.ts';
import { digest, etag, namedEtag } from './etag.ts';
import type { Held } from './kept.ts';
import type { Representation, Representations } from './representations.ts';

/** The caller alone may cache the answer, and revalidates it each time: a 304 is cheap. */
const REVALIDATED = 'private, max-age=0, must-revalidate';

/**
 * How an answer is written: a list's columns (null for any other answer), and the cache of written answers.
 */
export interface Writing {
  readonly columns: readonly Column[] | null;
  readonly representations: Representations;
}

/** Answers a GET or HEAD in JSON: 200 with a strong ETag, or 304 if the caller has these bytes. */
export async function replyToGet(req: Request, res: Response, value: object): Promise<void> {
  const { body, tag } = writtenOnce(value);
  const representation = representationOf(req, null);
  if (!isKnown(req, res, tag, representation)) await found(req, res, tag, body, representation);
}

/**
 * Written values by object. A cached value that did not change is the same object, and no code changes it.
 */
const written = new WeakMap<object, { readonly body: Buffer; readonly tag: string }>();

function writtenOnce(value: object): { readonly body: Buffer; readonly tag: string } {
  const known = written.get(value);
  if (known !== undefined) return known;
  const body = Buffer.from(JSON.stringify(value));
  const now = { body, tag: digest(body) };
  written.set(value, now);
  return now;
}

/** Bytes that stay the same as long as the process runs. */
export interface Page {
  readonly contentType: string;
  readonly body: Buffer;
  /** The digest of the body. */
  readonly tag: string;
  /** Without it, the caller alone may cache the page, and revalidates it each time. */
  readonly cacheControl?: string;
}

/** Answers with a page that needs no authentication, compressed if the caller accepts it. */
export async function replyWithPage(req: Request, res: Response, page: Page): Promise<void> {
  const { contentType, body, tag, cacheControl = REVALIDATED } = page;
  const representation = { ...representationOf(req, null), form: { ...JSON_FORM, contentType } };
  res.setHeader('Cache-Control', cacheControl);
  if (!isKnown(req, res, tag, representation)) await found(req, res, tag, body, representation);
}

/**
 * Answers like `replyToGet`, if the version of the answer is known beforehand: a 304 computes nothing. Lists
 * are written in the form that the caller prefers.
 */
export async function replyVersioned(
  req: Request,
  res: Response,
  versioned: Versioned,
  { columns, representations }: Writing,
): Promise<void> {
  const representation = representationOf(req, columns);
  const { form } = representation;
  dated(res, versioned);
  if (isKnown(req, res, versioned.tag, representation)) return;
  const computed = await versioned.result();
  const { tag, json } = computed;
  dated(res, computed);
  if (tag !== versioned.tag && isKnown(req, res, tag, representation)) return;
  const { body, coding } = await representations.of(tag, json, representation, columns);
  contextOf(res).timing?.next('answer');
  headers(res, etag(tag, form.mark, coding), coding, form.contentType, body.length);
  await send(req, res, body);
}

function dated(res: Response, { asOf, age }: Held): void {
  if (asOf !== null) res.setHeader('X-Data-As-Of', asOf);
  if (age !== null) res.setHeader('Age', age);
}

function representationOf({ headers }: Request, columns: readonly Column[] | null): Representation {
  return {
    form: columns === null ? JSON_FORM : chooseForm(headers.accept, LIST_FORMS),
    codings: acceptedCodings(headers['accept-encoding']),
  };
}

/**
 * Answers 304 if the caller named a tag of this answer. Before the body exists, it is not known whether it is
 * worth a coding, so the tag of any accepted coding counts.
 */
function isKnown(req: Request, res: Response, tag: string, { form, codings }: Representation): boolean {
  const ifNoneMatch = req.headers['if-none-match'];
  if (ifNoneMatch === undefined) return false;
  const named = namedEtag(ifNoneMatch, [
    etag(tag, form.mark),
    ...(form.compressible ? codings.map((coding) => etag(tag, form.mark, coding)) : []),
  ]);
  if (named === undefined) return false;
  validators(res, named);
  res.statusCode = 304;
  res.end();
  return true;
}

async function found(
  req: Request,
  res: Response,
  tag: string,
  body: Buffer,
  { form, codings }: Representation,
): Promise<void> {
  const coding = (form.compressible && isWorthCoding(body.length) && codings[0]) || null;
  const bytes = coding === null ? body : await encode(body, coding);
  headers(res, etag(tag, form.mark, coding), coding, form.contentType, bytes.length);
  res.end(req.method === 'HEAD' ? undefined : bytes);
}

function headers(
  res: Response,
  validator: string,
  coding: Coding | null,
  contentType: string,
  length: number,
): void {
  validators(res, validator);
  if (coding !== null) res.setHeader('Content-Encoding', coding);
  res.setHeader('Content-Type', contentType);
  res.setHeader('Content-Length', length);
}

/** Sends at the pace of the caller, so one piece of a large body is in memory at a time. */
async function send(req: Request, res: Response, body: Body): Promise<void> {
  if (req.method === 'HEAD' || body.bytes !== null) {
    res.end(req.method === 'HEAD' ? undefined : body.bytes);
    return;
  }
  for await (const piece of body.pieces(true)) {
    if (res.destroyed) return;
    await left(res, piece);
  }
  res.end();
}

/** Resolves when the piece is sent, or the connection has closed. */
const left = (res: Response, piece: Buffer): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      res.off('close', done);
      resolve();
    };
    res.once('close', done);
    res.write(piece, done);
  });

function validators(res: Response, validator: string): void {
  res.setHeader('ETag', validator);
  if (!res.hasHeader('Cache-Control')) res.setHeader('Cache-Control', REVALIDATED);
  res.setHeader('Vary', 'Accept, Accept-Encoding, Authorization');
  const timing = serverTiming(res);
  if (timing !== '') res.setHeader('Server-Timing', timing);
}

/** Answers a POST. The answer may hold a secret, so it is neither cached nor compressed. */
export function replyToPost(req: Request, res: Response, status: number, value: unknown): void {
  res.setHeader('Cache-Control', 'no-store');
  const timing = serverTiming(res);
  if (timing !== '') res.setHeader('Server-Timing', timing);
  end(req, res, status, JSON_FORM.contentType, Buffer.from(JSON.stringify(value)));
}

function end(req: Request, res: Response, status: number, contentType: string, body: Buffer): void {
  res.statusCode = status;
  res.setHeader('Content-Type', contentType);
  res.setHeader('Content-Length', body.length);
  res.end(req.method === 'HEAD' ? undefined : body);
}
