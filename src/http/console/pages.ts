import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Request, RequestHandler, Response } from 'express';
import { AppError } from '../../domain/errors.ts';
import { type LinkId, linkId } from '../../domain/ids.ts';
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

/** Pages of links, by the link's id. Those below /embed may stand in frames of the sites that the link names. */
const OF_LINK = /^\/(shared|embed)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
/** What a policy can name: a second check, behind that of the owner's input. */
const SITE = /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/;

/** Nothing external and nothing inline: injected markup could neither run nor send anything. */
const policyOf = (frames: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frames}`,
  ].join('; ');

const NO_FRAMES = policyOf("'none'");

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

/** Returns the sites that may show a link in a frame; none if it does not work. */
type ReadOrigins = (link: LinkId) => Promise<readonly string[]>;

/** Serves the console's pages and their files. They hold nothing secret, so they need no session. */
export function consolePages(originsOf: ReadOrigins): RequestHandler {
  let files: Files | undefined;
  return async (req, res, next) => {
    const { path } = targetOf(req);
    const [, kind, link] = OF_LINK.exec(path) ?? [];
    if (kind !== undefined && link !== undefined) {
      contextOf(res).route = `/${kind}`;
      files ??= read();
      await replyToLink(req, res, files.index, kind === 'embed' ? await originsOf(linkId(link)) : []);
      return;
    }
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
    res.setHeader('Content-Security-Policy', NO_FRAMES);
    res.setHeader('Referrer-Policy', 'same-origin');
    res.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    await replyWithPage(req, res, page);
  };
}

/** The page is not kept: its policy follows the link, and browsers keep a policy with the page. */
async function replyToLink(
  req: Request,
  res: Response,
  index: Page,
  origins: readonly string[],
): Promise<void> {
  pick(new Map([['GET', index]]), req, res);
  const sites = origins.filter((origin) => SITE.test(origin)).join(' ');
  const policy = sites === '' ? NO_FRAMES : policyOf(sites);
  res.setHeader('Content-Security-Policy', policy);
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  await replyWithPage(req, res, { ...index, tag: digest(index.tag + policy), cacheControl: 'no-store' });
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
