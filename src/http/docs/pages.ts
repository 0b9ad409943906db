import type { RequestHandler } from 'express';
import { type Page, replyWithPage } from '../answer/reply.ts';
import { contextOf, targetOf } from '../request/context.ts';
import { pick } from '../request/methods.ts';
import { type Library, pagesOf } from './site.ts';

/** Nothing external, nothing inline: injected markup could not run. Calls go to this service alone. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves /docs, its pages and files, and the OpenAPI documents: no authentication, no limit. */
export function docsPages(library: Library): RequestHandler {
  const pages = pagesOf(library);
  const made = new Map<string, Page>();
  return async (req, res, next) => {
    const { path } = targetOf(req);
    if (library.doors.includes(path) && (req.method === 'GET' || req.method === 'HEAD')) {
      contextOf(res).route = path;
      res.redirect(302, '/docs');
      return;
    }
    const make = pages.get(path);
    if (make === undefined) {
      next();
      return;
    }
    contextOf(res).route = path;
    pick(new Map([['GET', make]]), req, res);
    const found = made.get(path) ?? make();
    made.set(path, found);
    res.setHeader('Content-Security-Policy', POLICY);
    res.setHeader('Referrer-Policy', 'no-referrer');
    await replyWithPage(req, res, found);
  };
}
