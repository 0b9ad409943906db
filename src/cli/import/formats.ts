import { createHash } from 'node:crypto';
import type { EpochMs } from '../../domain/time.ts';
import { type LogLine, type Malformed, malformed } from '../../ingestion/access-log.ts';
import { isCaddy, parseCaddy } from '../../ingestion/caddy-log.ts';
import { type CloudFrontFields, cloudFrontFields, parseCloudFront } from '../../ingestion/cloudfront-log.ts';
import {
  ANY_FORM,
  combinedReader,
  habitOf,
  isCombined,
  LOG_FORMS,
  type LogForm,
} from '../../ingestion/combined-log.ts';
import { parseInstant } from '../../ingestion/instant.ts';
import { countEvents } from '../../ingestion/wire.ts';
import type { Line } from './lines.ts';

export const FORMATS = [
  'ndjson',
  'combined',
  'caddy',
  'cloudfront',
  'common',
  'main',
  'vhost_combined',
] as const;
export type Format = (typeof FORMATS)[number];

/** A line of NDJSON. */
export interface SentSession {
  /** 0 if it cannot be read. The service will reject the session. */
  readonly startedAt: EpochMs | 0;
  /** A hash of id and start; 0 if the service will reject the session. */
  readonly key: number;
  readonly events: number;
}

/** The content of a line. Null: nothing, such as a comment. */
export type Read = SentSession | LogLine | null;

export type Reader = (line: Line) => Read;

/** How the lines of a file are read. */
export interface FileReader {
  readonly kind: 'sessions' | 'requests';
  readonly read: Reader;
}

const NO_JSON = malformed('', 'it is no JSON');
/** Why a line cannot be read whose format is not known. */
export const UNKNOWN = malformed('', 'it is in none of the known formats');

const requests = (read: Reader): FileReader => ({ kind: 'requests', read });

function combined(form: LogForm, lines: readonly Line[]): FileReader {
  const read = combinedReader(form, habitOf(lines.map(({ text }) => text)));
  return requests(({ text, isCut }) => read(text, isCut));
}

/** Returns a reader of the lines of a file in this format, one after another. */
export function readerOf(format: Format): FileReader {
  switch (format) {
    case 'ndjson':
      return { kind: 'sessions', read: ({ text }) => fromJson(text, sentSession) };
    case 'caddy':
      return requests(({ text }) => fromJson(text, parseCaddy));
    case 'cloudfront':
      return requests(cloudFront());
    default:
      return combined(LOG_FORMS[format], []);
  }
}

/** Returns a reader by the first of these lines that has a known format; null if there is none. */
export function recognise(lines: readonly Line[]): FileReader | null {
  for (const { text } of lines) {
    if (cloudFrontFields(text) !== null) return readerOf('cloudfront');
    if (isCombined(text)) return combined(ANY_FORM, lines);
    const value = parseJson(text);
    if (isCaddy(value)) return readerOf('caddy');
    if (typeof value === 'object' && value !== null && 'startedAt' in value) return readerOf('ndjson');
  }
  return null;
}

function cloudFront(): Reader {
  let fields: CloudFrontFields | null = null;
  return ({ text }) => {
    // Logs that were joined have several heads.
    fields = cloudFrontFields(text) ?? fields;
    if (text.startsWith('#')) return null;
    return fields === null
      ? malformed('#Fields', 'the line that names them is missing')
      : parseCloudFront(text, fields);
  };
}

function fromJson<T>(text: string, read: (value: unknown) => T): T | Malformed {
  const value = parseJson(text);
  return value === undefined ? NO_JSON : read(value);
}

function sentSession(sent: unknown): SentSession {
  const { id, startedAt } = (typeof sent === 'object' && sent !== null ? sent : {}) as Readonly<
    Record<string, unknown>
  >;
  const start = typeof startedAt === 'string' ? parseInstant(startedAt) : null;
  const events = countEvents([sent]);
  if (typeof id !== 'string' || start === null) return { startedAt: 0, key: 0, events };
  const hash = createHash('sha1').update(`${id} ${start}`).digest();
  return { startedAt: start, key: 1 + hash.readUIntBE(0, 6), events };
}

/** Undefined for text that is no JSON. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
