import { createHash } from 'node:crypto';
import type { EpochMs } from '../../domain/time.ts';
import type { LogRequest, SkipReason } from '../../ingestion/access-log.ts';
import { isCaddy, parseCaddy } from '../../ingestion/caddy-log.ts';
import { type CloudFrontFields, cloudFrontFields, parseCloudFront } from '../../ingestion/cloudfront-log.ts';
import { isCombined, parseCombined } from '../../ingestion/combined-log.ts';
import { parseInstant } from '../../ingestion/instant.ts';
import { countEvents } from '../../ingestion/wire.ts';
import type { Line } from './lines.ts';

export const FORMATS = ['ndjson', 'combined', 'caddy', 'cloudfront'] as const;
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
export type Read = SentSession | LogRequest | SkipReason | null;

export type Reader = (line: string) => Read;

const READERS: Readonly<Record<Format, () => Reader>> = {
  ndjson: () => (line) => {
    const value = parseJson(line);
    return value === undefined ? 'malformed' : sentSession(value);
  },
  combined: () => parseCombined,
  caddy: () => (line) => {
    const value = parseJson(line);
    return value === undefined ? 'malformed' : parseCaddy(value);
  },
  cloudfront: () => {
    let fields: CloudFrontFields | null = null;
    return (line) => {
      // Logs that were joined have several heads.
      fields = cloudFrontFields(line) ?? fields;
      if (line.startsWith('#')) return null;
      return fields === null ? 'malformed' : parseCloudFront(line, fields);
    };
  },
};

/** Returns a function that reads the lines of a file, one after another. */
export const readerOf = (format: Format): Reader => READERS[format]();

/** Returns the format of the first of these lines that has a known one; null if there is none. */
export function recognise(lines: readonly Line[]): Format | null {
  for (const { text } of lines) {
    const format = formatOf(text);
    if (format !== null) return format;
  }
  return null;
}

function formatOf(line: string): Format | null {
  if (cloudFrontFields(line) !== null) return 'cloudfront';
  if (isCombined(line)) return 'combined';
  const value = parseJson(line);
  if (isCaddy(value)) return 'caddy';
  return typeof value === 'object' && value !== null && 'startedAt' in value ? 'ndjson' : null;
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
