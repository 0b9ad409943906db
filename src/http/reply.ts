import type { Request, Response } from 'express';
import { etagOf, matchesEtag } from './etag.ts';

/** The answer to a GET or HEAD: 200 with a strong ETag, or 304 when the caller has these bytes. */
export function replyToGet(req: Request, res: Response, value: unknown): void {
  const body = JSON.stringify(value);
  const etag = etagOf(body);
  res.setHeader('ETag', etag);
  // Kept by the caller alone, and asked again each time: 304 is the cheap answer.
  res.setHeader('Cache-Control', 'private, max-age=0, must-revalidate');
  if (matchesEtag(req.headers['if-none-match'], etag)) {
    res.statusCode = 304;
    res.end();
    return;
  }
  end(req, res, 200, body);
}

/** The answer to a POST: may hold a secret, so nobody keeps it. */
export function replyToPost(req: Request, res: Response, status: number, value: unknown): void {
  res.setHeader('Cache-Control', 'no-store');
  end(req, res, status, JSON.stringify(value));
}

function end(req: Request, res: Response, status: number, body: string): void {
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(req.method === 'HEAD' ? undefined : body);
}
