import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { RequestHandler } from 'express';
import { AppError } from '../../domain/errors.ts';
import { digest } from '../answer/etag.ts';
import { type Page, replyWithPage } from '../answer/reply.ts';
import { contextOf, targetOf } from '../request/context.ts';
import { pick } from '../request/methods.ts';

const isCompiled = import.meta.url.endsWith('.js');
/** The front end as `deploy/build` makes it from src/console. */
const BUILT = new URL(isCompiled ? '../../console/' : '../../../dist/console/', import.meta.url);

const ROOT = '/dashboard';
const ASSETS = `${ROOT}/assets/`;
const API = `${ROOT}/api`;

/** Nothing external and nothing inline: injected markup could neither run nor send anything. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface Files {
  /** The page of every address: its script reads the address. */
  readonly index: Page;
  /** By name, which holds a hash of the content. */
  readonly assets: ReadonlyMap<string, Page>;
}

/** Serves the console's pages and their files. They hold nothing secret, so they need no session. */
export function consolePages(): RequestHandler {
  let files: Files | undefined;
  return async (req, res, next) => {
    const { path } = targetOf(req);
    const isAsset = path.startsWith(ASSETS);
    if ((path !== ROOT && !path.startsWith(`${ROOT}/`)) || path === API || path.startsWith(`${API}/`)) {
      next();
      return;
    }
    contextOf(res).route = isAsset ? ASSETS : ROOT;
    files ??= read();
    const page = isAsset ? files.assets.get(path.slice(ASSETS.length)) : files.index;
    if (page === undefined) {
      next();
      return;
    }
    pick(new Map([['GET', page]]), req, res);
    res.setHeader('Content-Security-Policy', POLICY);
    res.setHeader('Referrer-Policy', 'same-origin');
    res.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    await replyWithPage(req, res, page);
  };
}

function read(): Files {
  try {
    const names = readdirSync(new URL('assets/', BUILT));
    return {
      index: pageOf('index.html', 'no-cache'),
      assets: new Map(
        names.map((name) => [name, pageOf(`assets/${name}`, 'public, max-age=31536000, immutable')]),
      ),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new AppError(
      'not_found',
      'The console is not built yet. Run `npm run build`, and load this again.',
    );
  }
}

function pageOf(file: string, cacheControl: string): Page {
  const body = readFileSync(new URL(file, BUILT));
  return {
    contentType: TYPES[extname(file)] ?? 'application/octet-stream',
    body,
    tag: digest(body),
    cacheControl,
  };
}
