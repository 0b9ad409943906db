import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
];
const REFERRERS = ['-', 'https://www.google.com/', 'https://news.example/story', '-', '-'];
/** About 80 of 100 lines are pageviews. */
const REQUESTS = ['/style.css', '/missing', ...Array.from({ length: 18 }, (_, i) => `/page-${i}?from=${i}`)];
const LINES_PER_CHUNK = 1_000;

const pad = (value: number): string => String(value).padStart(2, '0');

/** `17/May/2015:10:05:03 +0000` */
export function logTime(ms: number): string {
  const at = new Date(ms);
  const day = `${pad(at.getUTCDate())}/${MONTHS[at.getUTCMonth()] ?? ''}/${at.getUTCFullYear()}`;
  return `${day}:${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}:${pad(at.getUTCSeconds())} +0000`;
}

export interface LogPart {
  /** Epoch ms of the first line and of the last one. */
  readonly begin: number;
  readonly end: number;
  readonly lines: number;
  /** Another seed gives other lines. */
  readonly seed: number;
}

/** Yields an access log in the combined format, always the same, in texts of many lines. */
export function* accessLines({ begin, end, lines, seed }: LogPart): Generator<string> {
  let state = seed;
  /** Numerical Recipes' generator. Its high bits are the good ones. */
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  let text = '';
  for (let line = 0; line < lines; line++) {
    const visitor = below(lines / 8 + 1);
    // Requests are logged when they end: up to a minute late.
    const at = begin + ((end - begin) * line) / lines - below(60_000);
    const target = REQUESTS[below(REQUESTS.length)] ?? '/';
    const status = target === '/missing' ? 404 : 200;
    const address = `10.${(visitor >> 16) & 255}.${(visitor >> 8) & 255}.${visitor & 255}`;
    const referrer = REFERRERS[below(REFERRERS.length)] ?? '-';
    const agent = AGENTS[visitor % 16 === 0 ? 3 : visitor % 3] ?? '';
    text += `${address} - - [${logTime(at)}] "GET ${target} HTTP/1.1" ${status} 512 "${referrer}" "${agent}"\n`;
    if ((line + 1) % LINES_PER_CHUNK > 0) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** Writes such a log, gzipped if its name says so. */
export async function writeAccessLog(file: string, part: LogPart): Promise<void> {
  const lines = Readable.from(accessLines(part));
  await (file.endsWith('.gz')
    ? pipeline(lines, createGzip({ level: 1 }), createWriteStream(file))
    : pipeline(lines, createWriteStream(file)));
}
