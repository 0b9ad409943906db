import { type DestinationStream, type Logger, pino } from 'pino';
import { isError } from '../../domain/thrown.ts';

/**
 * Text fields that may be logged; all other text is left out. A list of allowed fields cannot forget a
 * header, a body or a command's arguments. Numbers and booleans may have any name, because none is a secret.
 */
const TEXT_FIELDS = new Set([
  'requestId',
  'traceId',
  'method',
  'route',
  'code',
  'accountId',
  'keyId',
  'appId',
  'address',
  'userAgent',
  'step',
  'statement',
  'lane',
  'outcome',
  'batchId',
  'query',
  'name',
  'state',
  'reason',
  'url',
  'managementUrl',
  'signal',
  'store',
]);

/** The form of a credential in a text from elsewhere, such as an engine's message. */
const CREDENTIAL = /(service_api_|app_secret_)[A-Za-z0-9_-]+|\b(Bearer|Basic)\s+[^\s"',]+/gi;
const JWT_BEGIN = /\beyJ/i;
/** A word that holds the begin of a JWT, and two more. It is looked for from the begin of a word, so in linear time. */
const JWT = /(?<![\w-])(?=[\w-]*\beyJ)[\w-]+\.[\w-]+\.[\w-]*/gi;

/** A shorter secret may be a word of its own, such as `test`, that many lines hold. */
const LEAST_SECRET = 8;

/** Returns a function that hides everything in the form of a credential, and these secrets, in a line of JSON. */
function scrubber(secrets: readonly string[]): (line: string) => string {
  const values = secrets
    .filter((secret) => secret.length >= LEAST_SECRET)
    .map((secret) => JSON.stringify(secret).slice(1, -1));
  return (line) => {
    let hidden = line.replace(
      CREDENTIAL,
      (_, prefix?: string, scheme?: string) => `${prefix ?? scheme ?? ''}[hidden]`,
    );
    if (JWT_BEGIN.test(hidden)) hidden = hidden.replace(JWT, '[hidden]');
    for (const value of values) hidden = hidden.replaceAll(value, '[hidden]');
    return hidden;
  };
}

export interface LogOptions {
  readonly level: string;
  /** Hidden in every line, wherever they come from. */
  readonly secrets?: readonly string[];
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/**
 * Makes the process's log: one JSON document per line. Fields pass an allowlist; `err` is logged as name,
 * code, message and stack.
 */
export function createLog({ level, secrets = [], destination }: LogOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: allowed },
    // Scrubs the whole line, because an error's message may hold a credential too.
    hooks: { streamWrite: scrubber(secrets) },
    serializers: { err: (error: unknown) => error },
  };
  const log: Logger = pino(options, destination ?? standardOutput());
  // A child's own fields bypass the formatters, so they are filtered here. A child without fields would add
  // nothing, and each request would make two of them; its parent is returned instead.
  const { child } = log;
  log.child = function (this: Logger, bindings: Record<string, unknown>, childOptions?: object) {
    const fields = allowed(bindings);
    const addsNothing = childOptions === undefined && Object.keys(fields).length === 0;
    return addsNothing ? this : child.call(this, fields, childOptions);
  } as typeof child;
  return log;
}

/** Writes the lines of one turn of the event loop at once. Under load a write costs more than its line. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true });
  let lines = '';
  const flush = (): void => {
    if (lines !== '') output.write(lines);
    lines = '';
  };
  process.once('exit', flush);
  return {
    write: (line) => {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
  };
}

function allowed(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'number' || typeof value === 'boolean') kept[name] = value;
    else if (typeof value === 'string' && TEXT_FIELDS.has(name)) kept[name] = value;
    else if (name === 'err') kept[name] = describe(value, 3);
  }
  return kept;
}

/**
 * Describes an error by name, code, message and stack, with its causes. Other properties may hold requests,
 * commands and bodies.
 */
function describe(error: unknown, depth: number): unknown {
  if (!isError(error)) return { message: String(error) };
  const code = 'code' in error && ['string', 'number'].includes(typeof error.code) ? error.code : undefined;
  return {
    name: error.name,
    ...(code === undefined ? {} : { code }),
    message: error.message,
    stack: error.stack ?? '',
    ...(error.cause === undefined || depth === 0 ? {} : { cause: describe(error.cause, depth - 1) }),
  };
}
