import { type EpochMs, epochMs } from '../domain/time.ts';
import { MAX_LENGTH } from './context.ts';
import { cleanText } from './text.ts';
import { isBot } from './user-agent.ts';

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

/** host ident user [time] "request" status bytes "referrer" "user agent" */
const LINE =
  /^(\S+) \S+ [^[]*\[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (?:\d+|-) "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"\s*$/;
const REQUEST = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/\d(?:\.\d)?$/;
const TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

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

/**
 * Parses one line of an Apache or nginx log in the combined format: a pageview, or the reason why it is none.
 * Pure.
 */
export function parseCombined(line: string): LogRequest | SkipReason {
  const [, address, time, request, status, referrer, agent] = LINE.exec(line) ?? [];
  const [, method, target = ''] = REQUEST.exec(unescapeLog(request ?? '')) ?? [];
  const at = parseTime(time ?? '');
  if (address === undefined || method === undefined || at === null) return 'malformed';
  const path = pathOf(target);
  if (method === 'GET' && path === null) return 'malformed';
  if (method !== 'GET' || path === null) return 'methods';
  if (Number(status) >= 400) return 'errors';
  const userAgent = cleanText(unescapeLog(absent(agent)), MAX_LENGTH.userAgent);
  if (isBot(userAgent)) return 'bots';
  if (ASSET.test(path.replace(/[?#].*$/s, ''))) return 'assets';
  return { address, at, path, referrer: unescapeLog(absent(referrer)), userAgent };
}

const absent = (field: string | undefined): string => (field === undefined || field === '-' ? '' : field);

/** Returns the path of a request. A proxy's client sends the whole address instead of a path. */
function pathOf(target: string): string | null {
  if (target.startsWith('/')) return target;
  if (!/^https?:\/\//i.test(target) || !URL.canParse(target)) return null;
  const { pathname, search } = new URL(target);
  return pathname + search;
}

/** Returns `17/May/2015:10:05:03 +0000` as epoch ms; null for text in any other form. */
function parseTime(text: string): EpochMs | null {
  const [, day, monthName, year, hour, minute, second, sign, offsetHour, offsetMinute] =
    TIME.exec(text) ?? [];
  const month = MONTHS.indexOf(monthName ?? '');
  if (month < 0) return null;
  const midnight = Date.UTC(Number(year), month, Number(day));
  const exists =
    new Date(midnight).getUTCDate() === Number(day) && new Date(midnight).getUTCMonth() === month;
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  // A leap second is logged as :60.
  if (!exists || h > 23 || m > 59 || s > 60) return null;
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000 * (sign === '-' ? -1 : 1);
  return epochMs(midnight + ((h * 60 + m) * 60 + s) * 1000 - offsetMs);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', v: '\v', f: '\f' };

/**
 * Undoes a log's escapes. Servers write `"` as `\"` or `\x22`, and each byte beyond ASCII as `\xhh`; these
 * bytes are UTF-8.
 */
function unescapeLog(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/(?:\\x[0-9a-fA-F]{2})+|\\(.)/g, (sequence, single?: string) =>
    single === undefined
      ? Buffer.from(sequence.replaceAll('\\x', ''), 'hex').toString('utf8')
      : (ESCAPES[single] ?? single),
  );
}
