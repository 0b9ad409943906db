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

interface Served {
  readonly library: Library;
  readonly pages: ReturnType<typeof pagesOf>;
  /** The pages that were asked for, by path. */
  readonly made: Map<string, Page>;
}

const servedFrom = (library: Library): Served => ({ library, pages: pagesOf(library), made: new Map() });

/** All addresses of a library begin like this. */
const ADDRESS = /^\/($|docs|openapi)/;

/**
 * Serves /docs, its pages and files, and the OpenAPI documents: no authentication, no limit. `make` is called at the
 * first request for one of them, because it takes a quarter of a second.
 */
export function docsPages(make: () => Library): RequestHandler {
  let served: Served | undefined;
  return async (req, res, next) => {
    const { path } = targetOf(req);
    if (!ADDRESS.test(path)) {
      next();
      return;
    }
    served ??= servedFrom(make());
    const { library, pages, made } = served;
    if (library.doors.includes(path) && (req.method === 'GET' || req.method === 'HEAD')) {
      contextOf(res).route = path;
      res.redirect(302, '/docs');
      return;
    }
    const makePage = pages.get(path);
    if (makePage === undefined) {
      next();
      return;
    }
    contextOf(res).route = path;
    pick(new Map([['GET', makePage]]), req, res);
    const found = made.get(path) ?? makePage();
    made.set(path, found);
    res.setHeader('Content-Security-Policy', POLICY);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.setHeader('Referrer-Policy', 'no-referrer');
    await replyWithPage(req, res, found);
  };
}
