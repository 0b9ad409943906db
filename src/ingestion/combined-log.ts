import { clientAddress } from '../domain/address.ts';
import { type EpochMs, epochMs } from '../domain/time.ts';
import {
  isMalformed,
  judgeRequest,
  type LogLine,
  type Malformed,
  malformed,
  noAddress,
  quoted,
  REQUEST_FIELD,
} from './access-log.ts';

/**
 * The forms of a line: `[host[:port]] address identity user [time] "request" status size`, and then nothing
 * (common), `"referrer" "user agent"` (combined), or one more quoted field after them (nginx's main).
 */
export interface LogForm {
  /** A virtual host in front. Null: decided line by line. */
  readonly hasHost: boolean | null;
  /** The number of quoted fields after the size. Null: any of 0, 2 and 3. */
  readonly quoted: number | null;
}

export const LOG_FORMS = {
  common: { hasHost: false, quoted: 0 },
  combined: { hasHost: false, quoted: 2 },
  main: { hasHost: false, quoted: 3 },
  vhost_combined: { hasHost: true, quoted: 2 },
} as const satisfies Readonly<Record<string, LogForm>>;

/** What the lines of a log have in common, if its form is not given. */
export interface LogHabit {
  /** True if most lines have a host in front that is no address. Then an address in front is a host, too. */
  readonly hasHost: boolean;
}

/** The time is found first: the fields before it may hold anything, also brackets. */
const TIME_FIELD = / \[(\d\d\/[A-Za-z]{3}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] /;
const QUOTED = String.raw`"([^"\\]*(?:\\.[^"\\]*)*)"`;
const REQUEST = new RegExp(QUOTED, 'sy');
const STATUS = / (\d{3}) (?:\d+|-)(?= |$)/y;
const MORE = new RegExp(` ${QUOTED}`, 'sy');
const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/\d(?:\.\d)?$/;
/** `host[:port]`. Its form keeps times, tags and brackets of other programs out. */
const HOST = /^(?:\w(?:[\w.-]*\w)?\.?|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const QUOTED_FIELD = /(^| )"([^"]*)"(?= |$)/g;
const MOST_QUOTED = 3;
/** More than servers accept in a request, with each byte written as four. */
const LONGEST = 256 * 1024;
/** All before the time: a host, addresses, identity and user. */
const LONGEST_FRONT = 16 * 1024;
const FORM_OF_QUOTED: Readonly<Record<number, string>> = { 0: 'common', 2: 'combined', 3: 'main' };

interface Fields {
  /** All that is before the time. */
  readonly front: string;
  readonly time: string;
  readonly request: string;
  readonly status: number;
  /** The quoted fields after the size. */
  readonly quoted: readonly string[];
}

/** Splits a line into its fields. */
function fieldsOf(line: string): Fields | Malformed {
  if (line.length > LONGEST) return malformed('', `it has ${line.length} characters`);
  const found = TIME_FIELD.exec(line);
  if (found === null)
    return malformed('time', 'there is none in brackets, such as [17/May/2015:10:05:03 +0000]');
  if (found.index > LONGEST_FRONT)
    return malformed('address', `${found.index} characters are before the time`);
  let at = found.index + found[0].length;
  const next = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const [whole, value = ''] = pattern.exec(line) ?? [];
    if (whole === undefined) return null;
    at += whole.length;
    return value;
  };
  const request = next(REQUEST);
  if (request === null) return malformed('quoted request', 'it does not follow the time');
  const status = next(STATUS);
  if (status === null) return malformed('status and size', 'they do not follow the request');
  const more: string[] = [];
  for (let field = next(MORE); field !== null; field = next(MORE)) more.push(field);
  if (line.slice(at).trim() !== '')
    return malformed('after the size', `${quoted(line.slice(at).trim())} is no quoted field`);
  if (more.length === 1 || more.length > MOST_QUOTED) {
    return malformed('after the size', `there are ${more.length} quoted fields; 0, 2 or 3 are known`);
  }
  return {
    front: line.slice(0, found.index),
    time: found[1] ?? '',
    request,
    status: Number(status),
    quoted: more,
  };
}

/** Splits what is before the time. A list of addresses is one field, also in quotes. */
function frontFields(front: string): string[] {
  const fields: string[] = [];
  let list = '';
  for (const part of front.replace(QUOTED_FIELD, '$1$2').split(' ')) {
    list += list === '' ? part : ` ${part}`;
    if (part.endsWith(',')) continue;
    fields.push(list);
    list = '';
  }
  if (list !== '') fields.push(list);
  return fields;
}

const isAddress = (text: string | undefined): boolean =>
  text !== undefined && clientAddress(text) !== undefined;

interface Front {
  readonly hasHost: boolean;
  /** As it is written. */
  readonly address: string;
}

/**
 * Finds the address before the time. Another program may have put its own text in front of the line, even an address. Such
 * a line is malformed: the text must not become the address of all clients.
 */
function readFront(front: string, form: LogForm, habit: LogHabit): Front | Malformed {
  const fields = frontFields(front);
  const [first = '', second = ''] = fields;
  const addresses = fields.filter(isAddress).length;
  const isName = HOST.test(first) && !isAddress(first);
  const hasHost =
    form.hasHost ??
    (isAddress(second) && fields.length > 3 && (isName || (isAddress(first) && habit.hasHost)));
  if (hasHost && !isName && !isAddress(first) && first !== '-')
    return malformed('host', `${quoted(first)} is no host`);
  const address = hasHost ? second : first;
  if (!isAddress(address)) return malformed('address', noAddress(address));
  if (fields.length < (hasHost ? 4 : 3)) {
    return malformed('user', 'identity and user are expected between address and time');
  }
  if (addresses > (hasHost && isAddress(first) ? 2 : 1)) {
    const host = form.hasHost === null ? '. If the first is a virtual host, say --format vhost_combined' : '';
    return malformed('address', `there are several before the time${host}`);
  }
  const [identity = '', ...user] = fields.slice(hasHost ? 2 : 1);
  if (user.length > 1 && (identity !== '-' || isOfAnother(user))) {
    return malformed('user', 'more than the host, the address, identity and user are before the time');
  }
  return { hasHost, address };
}

/** A user may have blanks in its name. But identity and user of the line itself may be at the end of what seems to be one. */
const isOfAnother = (user: readonly string[]): boolean =>
  user.slice(-2).every((part) => part === '-') && user.some((part) => part !== '-');

/** True for a line in one of the forms, whatever its address and its request. */
export const isCombined = (line: string): boolean => !isMalformed(fieldsOf(line));

/** Finds out what the lines have in common. */
export function habitOf(lines: readonly string[]): LogHabit {
  let [hosts, others] = [0, 0];
  for (const line of lines) {
    const fields = fieldsOf(line);
    if (isMalformed(fields)) continue;
    const front = readFront(fields.front, ANY_FORM, { hasHost: false });
    if (!isMalformed(front) && front.hasHost) hosts++;
    else others++;
  }
  return { hasHost: hosts > others };
}

export const ANY_FORM: LogForm = { hasHost: null, quoted: null };

/** Returns a function that reads the lines of one log, one after another. `isCut`: the line has no end. */
export function combinedReader(form: LogForm, habit: LogHabit) {
  let quotedBefore: number | null = form.quoted;
  return (line: string, isCut = false): LogLine => {
    const fields = fieldsOf(line);
    if (isMalformed(fields)) return fields;
    const fault = faultOfQuoted(fields.quoted.length, form.quoted);
    if (fault !== null) return fault;
    // The end of a line may be missing that is being written. Its client would be another one.
    if (isCut && fields.quoted.length < 2 && fields.quoted.length !== quotedBefore) {
      return malformed('user agent', 'the line is cut before it');
    }
    quotedBefore = fields.quoted.length;
    const front = readFront(fields.front, form, habit);
    return isMalformed(front) ? front : judge(fields, front.address);
  };
}

function faultOfQuoted(found: number, expected: number | null): Malformed | null {
  if (expected === null || found === expected) return null;
  const format = FORM_OF_QUOTED[found] ?? '';
  return malformed(
    'after the size',
    `there are ${found} quoted fields, as in the format ${format}, not ${expected}`,
  );
}

function judge(fields: Fields, address: string): LogLine {
  const at = parseLogTime(fields.time);
  if (at === null) return malformed('time', `there is no time ${quoted(fields.time)}`);
  const request = unescapeLog(fields.request);
  const [, method, target = ''] = REQUEST_LINE.exec(request) ?? [];
  if (method === undefined) return malformed(REQUEST_FIELD, `${quoted(request)} is no request`);
  const [referrer, userAgent] = fields.quoted.map(absent);
  return judgeRequest({
    address,
    at,
    method,
    target,
    status: fields.status,
    referrer: unescapeLog(referrer ?? ''),
    userAgent: unescapeLog(userAgent ?? ''),
  });
}

const absent = (field: string): string => (field === '-' ? '' : field);

const TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

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
