import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gzipSync, type ZlibOptions } from 'node:zlib';
import { z } from 'zod';
import { accountId, appId, isUuid } from '../domain/ids.ts';
import { DAY_MS, EVER, epochMs } from '../domain/time.ts';
import { CONTEXT_TEXTS, EVENT_COLUMNS, NO_COORDINATE, TYPES } from '../ingestion/journal-rows.ts';
import { areProperties } from '../ingestion/properties.ts';
import { AppDomain, AppName } from '../metadata/names.ts';
import { BrokenArchive } from './archive.ts';

/*
 * The pieces of an exported app, in this order:
 *
 *   app.json                   the app, its secrets' hashes, and the moment of the export
 *   events/000001.ndjson.gz …  raw events as the engine writes and reads them (JSONEachRow), defaults left out
 *   batches/000001.ndjson.gz … the ids of stored batches, so that a batch that is sent again still counts once
 *   counts.json                how many events and batches there are
 *
 * Everything else is computed from the events again.
 */

export const APP = 'app.json';
export const COUNTS = 'counts.json';
export const EVENTS = 'events/';
export const BATCHES = 'batches/';

/** The columns of `events` that are exported. `inserted_at` is that of the import. */
export const COLUMNS = EVENT_COLUMNS.filter((column) => column !== 'app_id');

/** Characters of a piece. Each has up to three bytes, and compressed they may stay as long. */
const PIECE_LENGTH = 16 * 1024 ** 2;
/** The most bytes of an unpacked piece, and its most rows. An exported row has some hundred characters. */
const MAX_UNPACKED = 4 * PIECE_LENGTH;
const MAX_ROWS = 500_000;

const uuid = z.string().refine(isUuid, 'must be a UUID');
const instant = z.int().min(EVER.from).max(EVER.to).transform(epochMs);

export const AppPiece = z.object({
  format: z.literal(1),
  id: uuid.transform(appId),
  account: uuid.transform(accountId),
  name: AppName,
  domain: AppDomain,
  createdAt: instant,
  secrets: z.array(
    z.object({
      hash: z.string().regex(/^[0-9a-f]{64}$/),
      createdAt: instant,
      expiresAt: instant.nullable(),
    }),
  ),
  /** For how long its events are kept, if it was ever said. */
  retention: z.object({ days: z.int().min(1).max(36_500).nullable(), acceptedFrom: instant }).optional(),
  /** The events that were stored until this moment, by the store's clock. */
  until: instant,
});
export type AppPiece = z.infer<typeof AppPiece>;

export const CountsPiece = z.object({ events: z.int(), batches: z.int() });
export type CountsPiece = z.infer<typeof CountsPiece>;

export const BatchRow = z.object({ batch: uuid, flush: uuid, at: instant });

/** A time as the engine writes it, in UTC; its epoch ms. */
const engineTime = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/)
  .transform((text) => Date.parse(`${text.replace(' ', 'T')}Z`))
  .pipe(instant);
const text = z.string();
const whole = (most: number) => z.int().min(0).max(most).optional();
const degrees = (most: number) =>
  z.union([z.literal(NO_COORDINATE), z.number().min(-most).max(most)]).optional();

/** An event. Other columns are those of another version. Throughout, a session lasts at most 24 h. */
export const EventRow = z
  .object({
    session_id: text.min(1),
    started_at: engineTime,
    timestamp: engineTime,
    type: z.enum(TYPES),
    path: text,
    label: text.optional(),
    duration_ms: whole(2 ** 32 - 1),
    properties: text.refine(areProperties).optional(),
    has_context: whole(1),
    ...Object.fromEntries(CONTEXT_TEXTS.map((column) => [column, text.optional()])),
    referrer_signal: whole(255),
    source_signal: whole(255),
    medium_signal: whole(255),
    latitude: degrees(90),
    longitude: degrees(180),
  })
  .refine(({ started_at: start, timestamp }) => timestamp >= start && timestamp <= start + DAY_MS);

/** Formats rows as compressed lines, in as many pieces as it takes: unpacked, each has about PIECE_LENGTH at most. */
export function* packed(
  rows: readonly object[],
): Generator<{ readonly rows: number; readonly bytes: Buffer }> {
  let lines: string[] = [];
  let length = 0;
  for (const row of rows) {
    const line = JSON.stringify(row);
    if (lines.length > 0 && length + line.length > PIECE_LENGTH) {
      yield { rows: lines.length, bytes: gzipSync(lines.join('\n'), { level: 4 }) };
      [lines, length] = [[], 0];
    }
    lines.push(line);
    length += line.length;
  }
  if (lines.length > 0) yield { rows: lines.length, bytes: gzipSync(lines.join('\n'), { level: 4 }) };
}

/** The most bytes of a row, and of a piece that is one JSON value. */
const MAX_ROW_BYTES = 512 * 1024;
/** Rows are read in groups of about this many bytes, or of so many rows. Others have the event loop in between. */
const GROUP_BYTES = 512 * 1024;
const GROUP_ROWS = 2_000;

/** Reads such lines, in groups. Throws BrokenArchive. */
export async function* unpacked(name: string, bytes: Buffer): AsyncGenerator<Record<string, unknown>[]> {
  const lines = await gunzipped(bytes, { maxOutputLength: MAX_UNPACKED }).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  let rows: Record<string, unknown>[] = [];
  let [count, began] = [0, 0];
  for (let at = 0; at < lines.length; ) {
    const next = lines.indexOf('\n', at);
    const end = next < 0 ? lines.length : next;
    if (++count > MAX_ROWS) throw unreadable(name, new Error(`more than ${MAX_ROWS} rows`));
    if (end - at > MAX_ROW_BYTES) throw unreadable(name, new Error(`a row of ${end - at} bytes`));
    rows.push(rowIn(name, lines.toString('utf8', at, end)));
    at = end + 1;
    if (at - began < GROUP_BYTES && rows.length < GROUP_ROWS && at < lines.length) continue;
    yield rows;
    rows = [];
    began = at;
    await setImmediate();
  }
}

const gunzipped = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

const unreadable = (name: string, cause: unknown): BrokenArchive =>
  new BrokenArchive(`${name} is not readable`, { cause });

function rowIn(name: string, line: string): Record<string, unknown> {
  try {
    const row: unknown = JSON.parse(line);
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as Record<string, unknown>;
  } catch (error) {
    throw unreadable(name, error);
  }
  throw unreadable(name, new Error('a row is no object'));
}

/** Reads a piece of JSON. Throws BrokenArchive. */
export function parsed<T>(schema: z.ZodType<T>, name: string, bytes: Buffer): T {
  try {
    if (bytes.length > MAX_ROW_BYTES) throw new Error(`it has ${bytes.length} bytes`);
    return schema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    throw new BrokenArchive(`${name} is not that of an export of this version`, { cause: error });
  }
}
