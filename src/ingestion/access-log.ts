import { clientAddress } from '../domain/address.ts';
import { parseUrl } from '../domain/host.ts';
import type { EpochMs } from '../domain/time.ts';
import { isBot } from './bots.ts';
import { MAX_LENGTH } from './context.ts';
import { cleanText } from './text.ts';

/** A request that is no pageview. If several reasons apply, the first of methods, errors, bots, assets counts. */
export interface Skipped {
  readonly skip: 'methods' | 'errors' | 'bots' | 'assets';
  readonly at: EpochMs;
}

/** A line that cannot be read: the field, and what is wrong with it. */
export interface Malformed {
  /** '' for the line as a whole. */
  readonly field: string;
  readonly reason: string;
}

export const malformed = (field: string, reason: string): Malformed => ({ field, reason });

export const isMalformed = (read: object): read is Malformed => 'reason' in read;

/** The field of a line that is in the log's format, but records something that is no request, such as a broken one. */
export const REQUEST_FIELD = 'request';

/** What the line of a log records. */
export type LogLine = LogRequest | Skipped | Malformed;

/** A request that counts as a pageview. */
export interface LogRequest {
  /** In the form of `clientAddress`. */
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
  /** As it is written. */
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
export function judgeRequest(request: LoggedRequest): LogLine {
  const { at, method, status, referrer } = request;
  const address = clientAddress(request.address);
  if (address === undefined) return malformed('address', noAddress(request.address));
  const path = pathOf(request.target);
  if (method === 'GET' && path === null) {
    return malformed(REQUEST_FIELD, `${quoted(request.target)} is neither a path nor an address`);
  }
  if (method !== 'GET' || path === null) return { skip: 'methods', at };
  if (status >= 400) return { skip: 'errors', at };
  const userAgent = cleanText(request.userAgent, MAX_LENGTH.userAgent);
  if (isBot(userAgent)) return { skip: 'bots', at };
  if (ASSET.test(path.replace(/[?#].*$/s, ''))) return { skip: 'assets', at };
  return { address, at, path, referrer, userAgent };
}

const LONGEST_SHOWN = 40;

/** The begin of a field, for messages. */
export const quoted = (text: string): string =>
  `"${text.slice(0, LONGEST_SHOWN)}${text.length > LONGEST_SHOWN ? '…' : ''}"`;

/** Says why a field is no address. */
export const noAddress = (text: string): string =>
  text === '' || text === '-' ? 'there is none' : `${quoted(text)} is no address`;

/** Returns the path of a request. A proxy's client sends the whole address instead of a path. */
function pathOf(target: string): string | null {
  if (target.startsWith('/')) return target;
  const url = /^https?:\/\//i.test(target) ? parseUrl(target) : null;
  return url === null ? null : url.pathname + url.search;
}
