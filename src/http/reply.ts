import type { Request, Response } from 'express';
import type { Versioned } from './answers.ts';
import { digest, matchesEtag } from './etag.ts';

/** The answer to a GET or HEAD: 200 with a strong ETag, or 304 when the caller has these bytes. */
export function replyToGet(req: Request, res: Response, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  if (isKnown(req, res, digest(body))) return;
  end(req, res, 200, body);
}

/** The same for an answer whose version is known beforehand: nothing is computed for a 304. */
export async function replyVersioned(req: Request, res: Response, versioned: Versioned): Promise<void> {
  if (versioned.asOf !== null) res.setHeader('X-Data-As-Of', versioned.asOf);
  if (isKnown(req, res, versioned.tag)) return;
  const { tag, json } = await versioned.result();
  if (tag !== versioned.tag && isKnown(req, res, tag)) return;
  end(req, res, 200, json);
}

/** Sets the validator; ends the answer with 304 where the caller named it. */
function isKnown(req: Request, res: Response, tag: string): boolean {
  const etag = `"${tag}"`;
  res.setHeader('ETag', etag);
  // Kept by the caller alone, and asked again each time: 304 is the cheap answer.
  res.setHeader('Cache-Control', 'private, max-age=0, must-revalidate');
  if (!matchesEtag(req.headers['if-none-match'], etag)) return false;
  res.statusCode = 304;
  res.end();
  return true;
}

/** The answer to a POST: may hold a secret, so nobody keeps it. */
export function replyToPost(req: Request, res: Response, status: number, value: unknown): void {
  res.setHeader('Cache-Control', 'no-store');
  end(req, res, status, Buffer.from(JSON.stringify(value)));
}

function end(req: Request, res: Response, status: number, body: Buffer): void {
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', body.length);
  res.end(req.method === 'HEAD' ? undefined : body);
}
