import { isbot } from 'isbot';
import type { Delivery } from './model.ts';

const IDLE_GAP = 30 * 60_000;
const LONGEST_SESSION = 24 * 60 * 60_000;

/** One request of an Apache combined log. */
export interface LogLine {
  readonly address: string;
  /** Epoch ms. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly referrer: string;
  readonly userAgent: string;
}

export interface AccessLog {
  /** The counts of lines, as in the import's summary. */
  readonly lines: number;
  readonly skipped: Readonly<Record<Skipped, number>>;
  readonly deliveries: readonly Delivery[];
}

/** Browsers of people in real logs that the list of bots calls bots. */
const PEOPLE = new Set([
  'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; WOW64; Trident/5.0; chromeframe/19.0.1084.52)',
  'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1; http://www.tropicdesigns.net)',
  'MAXX_MAUI WAP Browser',
  'Maui Browser',
]);

type Skipped = 'malformed' | 'methods' | 'errors' | 'bots' | 'assets';

const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"';
const COMBINED = new RegExp(
  `^(\\S+) \\S+ .*?\\[(\\d\\d)/(\\w{3})/(\\d{4}):(\\d\\d:\\d\\d:\\d\\d) ([+-]\\d\\d)(\\d\\d)\\] ` +
    `${QUOTED} (\\d{3}) (?:\\d+|-) ${QUOTED} ${QUOTED}$`,
);
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Parses a line; null if it is no request in the combined format. */
export function parseLine(line: string): LogLine | null {
  const [, address, day, month, year, time, zone, minutes, request, status, referrer, userAgent] =
    COMBINED.exec(line) ?? [];
  const [, method, path] = /^([A-Z]+) (\/\S*) HTTP\/\d(?:\.\d)?$/.exec(request ?? '') ?? [];
  if (address === undefined || method === undefined || path === undefined) return null;
  const number = String(MONTHS.indexOf(month ?? '') + 1).padStart(2, '0');
  const at = new Date(`${year}-${number}-${day}T${time}${zone}:${minutes}`).getTime();
  if (Number.isNaN(at)) return null;
  return {
    address,
    at,
    method,
    path,
    status: Number(status),
    referrer: unquoted(referrer ?? ''),
    userAgent: unquoted(userAgent ?? ''),
  };
}

/** Apache writes nothing as `-`. */
const unquoted = (text: string): string => (text === '-' ? '' : text.replace(/\\(["\\])/g, '$1'));

/** Parts of pages, and downloads. */
const ASSETS = new Set(
  [
    'css js mjs cjs map wasm json xml txt webmanifest',
    'png jpg jpeg gif svg ico cur webp avif bmp tif tiff woff woff2 ttf otf eot',
    'mp3 mp4 m4a m4v webm ogg ogv wav mov avi flv swf',
    'pdf zip gz tgz bz2 xz rar 7z tar jar deb rpm exe dmg iso',
  ].flatMap((extensions) => extensions.split(' ')),
);

const isAsset = (path: string): boolean => {
  const [, extension = ''] = /\.([^./]*)$/.exec(path.replace(/[?#].*$/, '')) ?? [];
  return ASSETS.has(extension.toLowerCase());
};

/** Returns the first reason to skip a line; null for a pageview. */
function reasonToSkip(line: LogLine | null): Skipped | null {
  if (line === null) return 'malformed';
  if (line.method !== 'GET') return 'methods';
  if (line.status >= 400) return 'errors';
  if (isbot(line.userAgent) && !PEOPLE.has(line.userAgent)) return 'bots';
  if (isAsset(line.path)) return 'assets';
  return null;
}

/** Reads a whole log. Its pageviews become sessions by address and user agent, separated by idle gaps. */
export function readAccessLog(text: string, app: { id: string; domain: string }): AccessLog {
  const lines = text.split('\n').filter((line) => line !== '');
  const parsed = lines.map(parseLine);
  const skipped = { malformed: 0, methods: 0, errors: 0, bots: 0, assets: 0 };
  const visitors = new Map<string, LogLine[]>();
  for (const line of parsed) {
    const reason = reasonToSkip(line);
    if (reason !== null) skipped[reason] += 1;
    else if (line !== null) {
      const visitor = `${line.address} ${line.userAgent}`;
      visitors.set(visitor, [...(visitors.get(visitor) ?? []), line]);
    }
  }
  const deliveries = [...visitors].flatMap(([visitor, requests]) =>
    sessionsOf(requests).map((session) => delivery(visitor, session, app)),
  );
  return { lines: lines.length, skipped, deliveries };
}

/** Sorts by time; lines of one second stay in the file's order. */
function sessionsOf(requests: readonly LogLine[]): LogLine[][] {
  const sessions: LogLine[][] = [];
  for (const request of [...requests].sort((a, b) => a.at - b.at)) {
    const current = sessions.at(-1);
    const [first, last] = [current?.at(0), current?.at(-1)];
    const goesOn =
      first !== undefined &&
      last !== undefined &&
      request.at - last.at <= IDLE_GAP &&
      request.at - first.at <= LONGEST_SESSION;
    if (goesOn) current?.push(request);
    else sessions.push([request]);
  }
  return sessions;
}

function delivery(
  visitor: string,
  requests: readonly LogLine[],
  app: { id: string; domain: string },
): Delivery {
  const [first] = requests;
  if (first === undefined) throw new Error('a session without a request');
  return {
    appId: app.id,
    appDomain: app.domain,
    session: { id: visitor, visitorId: visitor, startedAt: first.at },
    context: { userAgent: first.userAgent, referrer: first.referrer },
    events: requests.map(({ at, path }) => ({ type: 'pageview', timestamp: at, path })),
  };
}
