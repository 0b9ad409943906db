import { parseUrl } from '../domain/host.ts';
import type { EpochMs } from '../domain/time.ts';
import { isBot } from './bots.ts';
import { MAX_LENGTH } from './context.ts';
import { cleanText } from './text.ts';

/** Why a line of a log is no pageview. If several reasons apply, the first in this order counts. */
export const SKIP_REASONS = ['malformed', 'methods', 'errors', 'bots', 'assets'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** A request that counts as a pageview. */
export interface LogRequest {
  readonly address: string;
  readonly at: EpochMs;
  /** The path with its query, as requested. */
  readonly path: string;
  /** '' for none, also for the user agent. */
  readonly referrer: string;
  readonly userAgent: string;
}

/** A request as a line of a log states it. */
export interface LoggedRequest {
  readonly address: string;
  readonly at: EpochMs;
  readonly method: string;
  /** A path with its query, or a whole address. */
  readonly target: string;
  readonly status: number;
  /** '' for none, also for the user agent. */
  readonly referrer: string;
  readonly userAgent: string;
}

/** Extensions of paths that are not pages: parts of a page, and files. */
const ASSET = new RegExp(
  `\\.(?:${[
    'css|js|mjs|cjs|map|wasm|json|xml|txt|webmanifest',
    'png|jpe?g|gif|svg|ico|cur|webp|avif|bmp|tiff?',
    'woff2?|ttf|otf|eot',
    'mp3|mp4|m4a|m4v|webm|ogg|ogv|wav|mov|avi|flv|swf',
    'pdf|zip|gz|tgz|bz2|xz|rar|7z|tar|jar|deb|rpm|exe|dmg|iso',
  ].join('|')})$`,
  'i',
);

/** Returns the pageview that a request is, or the reason why it is none. Pure. */
export function judgeRequest(request: LoggedRequest): LogRequest | SkipReason {
  const { address, at, method, status, referrer } = request;
  const path = pathOf(request.target);
  if (method === 'GET' && path === null) return 'malformed';
  if (method !== 'GET' || path === null) return 'methods';
  if (status >= 400) return 'errors';
  const userAgent = cleanText(request.userAgent, MAX_LENGTH.userAgent);
  if (isBot(userAgent)) return 'bots';
  if (ASSET.test(path.replace(/[?#].*$/s, ''))) return 'assets';
  return { address, at, path, referrer, userAgent };
}

/** Returns the path of a request. A proxy's client sends the whole address instead of a path. */
function pathOf(target: string): string | null {
  if (target.startsWith('/')) return target;
  const url = /^https?:\/\//i.test(target) ? parseUrl(target) : null;
  return url === null ? null : url.pathname + url.search;
}
