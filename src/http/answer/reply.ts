import type { Request, Response } from 'express';
import type { Body } from '../forms/bodies.ts';
import { acceptedCodings, type Coding, encode, isWorthCoding } from '../forms/coding.ts';
import type { Column } from '../forms/columns.ts';
import { chooseForm, JSON_FORM, LIST_FORMS } from '../forms/forms.ts';
import { contextOf, serverTiming } from '../request/context.ts';
import type { Held, Versioned } from './answers.ts';
import { digest, etag, namedEtag } from './etag.ts';
import type { Representation, Representations } from './representations.ts';

/** How answers are written: a list's columns, null for what is no list, and what is written already. */
export interface Writing {
  readonly columns: readonly Column[] | null;
  readonly representations: Representations;
}

/** The answer to a GET or HEAD, in JSON: 200 with a strong ETag, or 304 when the caller has these bytes. */
export async function replyToGet(req: Request, res: Response, value: object): Promise<void> {
  const { body, tag } = writtenOnce(value);
  const representation = representationOf(req, null);
  if (!isKnown(req, res, tag, representation)) await found(req, res, tag, body, representation);
}

/** What is kept because nothing changed comes as the same object again, and nobody writes to a result. */
const written = new WeakMap<object, { readonly body: Buffer; readonly tag: string }>();

function writtenOnce(value: object): { readonly body: Buffer; readonly tag: string } {
  const known = written.get(value);
  if (known !== undefined) return known;
  const body = Buffer.from(JSON.stringify(value));
  const now = { body, tag: digest(body) };
  written.set(value, now);
  return now;
}

/** Bytes that stay what they are for as long as the process runs. */
export interface Page {
  readonly contentType: string;
  readonly body: Buffer;
  /** The digest of the body. */
  readonly tag: string;
}

/** A page that needs no authentication, compressed where it is taken so. */
export async function replyWithPage(req: Request, res: Response, page: Page): Promise<void> {
  const { contentType, body, tag } = page;
  const representation = { ...representationOf(req, null), form: { ...JSON_FORM, contentType } };
  if (!isKnown(req, res, tag, representation)) await found(req, res, tag, body, representation);
}

/**
 * The same for an answer whose version is known beforehand: nothing is computed for a 304. A list comes in the
 * form that the caller likes.
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
  contextOf(res).timing?.end('store');
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
 * Ends the answer with 304 where the caller named a tag that stands for this answer. Which codings the body is worth shows only when
 * it is there; before, any that the caller takes may be the one that the caller holds.
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

/** No faster than the caller reads: of a large body one piece at a time is in memory. */
async function send(req: Request, res: Response, body: Body): Promise<void> {
  if (req.method === 'HEAD' || body.bytes !== null) {
    res.end(req.method === 'HEAD' ? undefined : body.bytes);
    return;
  }
  for await (const piece of body.pieces()) {
    if (res.destroyed) return;
    await left(res, piece);
  }
  res.end();
}

/** Resolves when the piece has left the process, or the caller has. */
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
  // Kept by the caller alone, and asked again each time: 304 is the cheap answer.
  res.setHeader('Cache-Control', 'private, max-age=0, must-revalidate');
  res.setHeader('Vary', 'Accept, Accept-Encoding, Authorization');
  const timing = serverTiming(res);
  if (timing !== '') res.setHeader('Server-Timing', timing);
}

/** The answer to a POST: may hold a secret, so nobody keeps it, and it is not compressed. */
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
