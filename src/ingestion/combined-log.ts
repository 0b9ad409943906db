import { type EpochMs, epochMs } from '../domain/time.ts';
import { judgeRequest, type LogRequest, type SkipReason } from './access-log.ts';

/** host ident user [time] "request" status bytes "referrer" "user agent" */
const LINE =
  /^(\S+) \S+ [^[]*\[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (?:\d+|-) "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"\s*$/;
const REQUEST = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/\d(?:\.\d)?$/;
const TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** True for a line in the combined format, whatever its request. */
export const isCombined = (line: string): boolean => LINE.test(line);

/**
 * Parses one line of an Apache or nginx log in the combined format: a pageview, or the reason why it is none.
 * Pure.
 */
export function parseCombined(line: string): LogRequest | SkipReason {
  const [, address, time, request, status, referrer, agent] = LINE.exec(line) ?? [];
  const [, method, target = ''] = REQUEST.exec(unescapeLog(request ?? '')) ?? [];
  const at = parseLogTime(time ?? '');
  if (address === undefined || method === undefined || at === null) return 'malformed';
  return judgeRequest({
    address,
    at,
    method,
    target,
    status: Number(status),
    referrer: unescapeLog(absent(referrer)),
    userAgent: unescapeLog(absent(agent)),
  });
}

const absent = (field: string | undefined): string => (field === undefined || field === '-' ? '' : field);

/** Returns `17/May/2015:10:05:03 +0000` as epoch ms; null for text in any other form. */
export function parseLogTime(text: string): EpochMs | null {
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
