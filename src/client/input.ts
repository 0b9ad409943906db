import { InputError } from './errors.ts';
import type { CallOptions, ClientOptions, PollOptions, StreamOptions } from './types.ts';

/** The longest time of a timer, 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isMs = (value: unknown): boolean => typeof value === 'number' && value >= 0;
const isTimer = (value: unknown): boolean => isMs(value) && Number(value) <= LONGEST_MS;

type Options = CallOptions & PollOptions & StreamOptions & Pick<ClientOptions, 'fetch'>;

/** What each option must be, for callers without TypeScript. */
const RULES: { readonly [Name in keyof Options]-?: readonly [(value: unknown) => boolean, string] } = {
  signal: [isSignal, 'an AbortSignal'],
  maxStaleSeconds: [isWhole, 'a whole number of seconds'],
  timeoutMs: [(value) => isTimer(value) && value !== 0, `a number of ms up to ${LONGEST_MS}`],
  maxRetries: [isWhole, 'a whole number'],
  maxWaitMs: [isMs, 'a number of ms'],
  onRetry: [isFunction, 'a function'],
  intervalMs: [isTimer, `a number of ms up to ${LONGEST_MS}`],
  giveUpAfterMs: [isMs, 'a number of ms'],
  onConnection: [isFunction, 'a function'],
  fetch: [isFunction, 'a function'],
};

function isSignal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;
}

const LIMITS = ['timeoutMs', 'maxRetries', 'maxWaitMs', 'onRetry'];
const STREAM = ['signal', 'timeoutMs', 'onConnection', 'giveUpAfterMs'];

/** The names of the options, by what takes them. */
const NAMES = {
  createClient: ['baseUrl', 'apiKey', 'fetch', ...LIMITS],
  createApp: ['signal', ...LIMITS],
  'a question': ['signal', 'maxStaleSeconds', ...LIMITS],
  download: ['format', 'signal', 'maxStaleSeconds', ...LIMITS],
  live: STREAM,
  poll: [...STREAM, 'intervalMs', 'maxStaleSeconds'],
} as const;

/** Throws InputError for the first option that `taker` does not have, or that has a wrong value. */
export function checkOptions(taker: keyof typeof NAMES, options: object): void {
  if (typeof options !== 'object' || options === null) throw new InputError('The options must be an object.');
  const names: readonly string[] = NAMES[taker];
  const unknown = Object.entries(options).find(
    ([name, value]) => value !== undefined && !names.includes(name),
  );
  if (unknown !== undefined) {
    throw new InputError(`${unknown[0]} is no option of ${taker}, which has ${names.join(', ')}.`);
  }
  for (const [name, [isRight, what]] of Object.entries(RULES)) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && !isRight(value)) throw new InputError(`${name} must be ${what}.`);
  }
}

/** Returns the address without a slash at its end. */
export function baseOf(baseUrl: string): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new InputError('baseUrl is no URL.');
  }
  if (!/^https?:$/.test(url.protocol)) throw new InputError('baseUrl must begin with http:// or https://.');
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') {
    throw new InputError('baseUrl must have no user, query or fragment.');
  }
  return url.href.replace(/\/+$/, '');
}

/** Checked here, because fetch would complain about the header and print it. */
export function checkKey(apiKey: string): void {
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
    throw new InputError('apiKey is no API key.');
}

/** Sorts the parameters, so that equal questions have one URL. */
export function searchOf(params: object): string {
  if (typeof params !== 'object' || params === null)
    throw new InputError('The parameters must be an object.');
  const given = Object.entries(params)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string] => [name, textOf(name, value)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

function textOf(name: string, value: unknown): string {
  // Also a Date of another realm, such as that of a test runner.
  if (Object.prototype.toString.call(value) !== '[object Date]') return String(value);
  const date = value as Date;
  if (Number.isNaN(date.getTime())) throw new InputError(`${name} is an invalid Date.`);
  return date.toISOString();
}

export function jsonOf(body: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch (error) {
    throw new InputError(`The app cannot be written as JSON: ${String(error)}`);
  }
  if (text === undefined) throw new InputError('The app is missing.');
  return text;
}
