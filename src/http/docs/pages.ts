import { readFileSync } from 'node:fs';
import type { RequestHandler } from 'express';
import { digest } from '../answer/etag.ts';
import { type Page, replyWithPage } from '../answer/reply.ts';
import { contextOf, targetOf } from '../request/context.ts';
import { pick } from '../request/methods.ts';
import { figuresPage } from './figures.ts';
import { type Documentation, docsPage } from './html.ts';
import { openApiDocument, openApiText } from './openapi.ts';

/** Nothing external, nothing inline: injected markup could not run. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

const page = (contentType: string, content: string): Page => {
  const body = Buffer.from(content);
  return { contentType, body, tag: digest(body) };
};
const asset = (contentType: string, file: string): Page =>
  page(`${contentType}; charset=utf-8`, readFileSync(new URL(`./assets/${file}`, import.meta.url), 'utf8'));

/** Makers of the pages; each runs at the first request. */
const PAGES = new Map<string, () => Page>([
  ['/docs', () => page(HTML, docsPage(openApiDocument() as unknown as Documentation))],
  ['/docs/figures', () => page(HTML, figuresPage())],
  ['/docs/style.css', () => asset('text/css', 'style.css')],
  ['/docs/copy.js', () => asset('text/javascript', 'copy.js')],
  ['/openapi.json', () => page(JSON_TYPE, openApiText())],
]);

/** Addresses that visitors try first. They redirect to the reference. */
const DOORS = new Set(['/', '/docs/']);

/** Serves /docs, the reference page, with its assets, and /openapi.json: no authentication, no limit. */
export function docsPages(): RequestHandler {
  const made = new Map<string, Page>();
  return async (req, res, next) => {
    const { path } = targetOf(req);
    if (DOORS.has(path) && (req.method === 'GET' || req.method === 'HEAD')) {
      contextOf(res).route = path;
      res.redirect(302, '/docs');
      return;
    }
    const make = PAGES.get(path);
    if (make === undefined) {
      next();
      return;
    }
    contextOf(res).route = path;
    pick(new Map([['GET', make]]), req, res);
    const found = made.get(path) ?? make();
    made.set(path, found);
    res.setHeader('Content-Security-Policy', POLICY);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.setHeader('Referrer-Policy', 'no-referrer');
    await replyWithPage(req, res, found);
  };
}
