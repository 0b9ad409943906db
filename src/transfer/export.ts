import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { identifier, join, sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';
import type { AppId } from '../domain/ids.ts';
import { type EpochMs, HOUR_MS, toIso } from '../domain/time.ts';
import type { Ingestion } from '../ingestion/ingestion.ts';
import type { MovedApp } from '../metadata/moved-apps.ts';
import { horizonOf } from '../snapshots/horizon.ts';
import { ERASURES } from '../snapshots/rows.ts';
import type { Piece } from './archive.ts';
import { APP, type AppPiece, BATCHES, COLUMNS, COUNTS, type CountsPiece, EVENTS, packed } from './format.ts';

/** About so many events are one piece. Larger hours are split by chance. */
const MOST_EVENTS = 40_000;
const MOST_BATCHES = 100_000;
const SEAL = { lane: 'seal' } as const;

const HOURS: Query<{ hour: number; events: number }> = {
  name: 'export: hours',
  sql: sql`SELECT toUnixTimestamp(h.hour) * 1000 AS hour, sum(h.events) AS events FROM ledger AS h
WHERE app_id = {app:UUID} AND kind = 'event' GROUP BY h.hour ORDER BY hour`,
  row: z.object({ hour: z.number(), events: z.number() }),
};

/** Values in the order of COLUMNS. They are not looked at: the store has made them, and another one reads them. */
const ROWS: Query<readonly unknown[]> = {
  name: 'export: events',
  sql: sql`SELECT ${join(COLUMNS.map(identifier))} FROM events
WHERE app_id = {app:UUID} AND toStartOfHour(timestamp) >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND toStartOfHour(timestamp) < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND inserted_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
  AND sipHash64(session_id, timestamp) % {parts:UInt32} = {part:UInt32}`,
  row: z.custom<readonly unknown[]>(Array.isArray),
};

const STORED: Query<{ batch: string; flush: string; at: number }> = {
  name: 'export: batches',
  sql: sql`SELECT toString(batch_id) AS batch, toString(flush_id) AS flush, toUnixTimestamp64Milli(inserted_at) AS at
FROM ingest_batches
WHERE app_id = {app:UUID} AND batch_id > {after:UUID} AND inserted_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')
ORDER BY batch_id LIMIT {limit:UInt32}`,
  row: z.object({ batch: z.string(), flush: z.string(), at: z.number() }),
};
const FIRST_BATCH = '00000000-0000-0000-0000-000000000000';

/** A part of the events: hours from `from` until before `to`, one of `parts` parts. */
interface Chunk {
  readonly from: number;
  readonly to: number;
  readonly parts: number;
  readonly part: number;
}

export interface ExportDeps {
  readonly db: Database;
  readonly ingestion: Pick<Ingestion, 'whileQuiet'>;
}

/**
 * Returns the pieces of an app. It holds the events that were stored until a moment at which no event of the app was
 * being stored, and exactly the ids of their batches. Events that come later are not in it. Throws `overloaded` if
 * there is no such moment or a visitor is being erased, and `beyond_retention` if some of its events have expired.
 */
export async function* exported({ db, ingestion }: ExportDeps, app: MovedApp): AsyncGenerator<Piece> {
  const until = await ingestion.whileQuiet(app.id, async (at) => at);
  await assertWhole(db, app.id);
  const erasures = await erasuresOf(db, app.id);
  const { excluded, secrets, ...rest } = app;
  const head: AppPiece = {
    format: 1,
    ...rest,
    secrets: [...secrets],
    ...(excluded === undefined ? {} : { excluded: [...excluded] }),
    until,
  };
  yield { name: APP, bytes: Buffer.from(JSON.stringify(head)) };
  const counts: CountsPiece = { events: 0, batches: 0 };
  let number = 0;
  for (const chunk of chunksOf(await db.query(HOURS, { app: app.id }, SEAL))) {
    const rows = await db.rows(ROWS, SEAL, { app: app.id, until, ...chunk });
    for await (const piece of packed(rows.map(withoutDefaults))) {
      counts.events += piece.rows;
      yield { name: nameOf(EVENTS, ++number), bytes: piece.bytes };
    }
  }
  number = 0;
  for await (const batches of batchesOf(db, app.id, until)) {
    for await (const piece of packed(batches)) {
      counts.batches += piece.rows;
      yield { name: nameOf(BATCHES, ++number), bytes: piece.bytes };
    }
  }
  // Events may have expired meanwhile, and a visitor may have been erased.
  await assertWhole(db, app.id);
  if ((await erasuresOf(db, app.id)) !== erasures) throw erasing();
  yield { name: COUNTS, bytes: Buffer.from(JSON.stringify(counts)) };
}

/** Throws `beyond_retention` if events of the app have expired: facts alone cannot be moved. */
async function assertWhole(db: Database, app: AppId): Promise<void> {
  const at = await horizonOf(db, app, SEAL);
  if (at === 0) return;
  const detail = `Events from before ${toIso(at)} have expired by the app's retention. What is left of it cannot be moved.`;
  throw new AppError('beyond_retention', detail);
}

const ERASED: Query<{ begun: number; ended: number }> = {
  name: 'export: erasures',
  sql: sql`SELECT numbers[1] AS begun, numbers[2] AS ended FROM (SELECT [${ERASURES}] AS numbers FROM erasures WHERE app_id = {app:UUID})`,
  row: z.object({ begun: z.number(), ended: z.number() }),
};

/** Returns how many visitors were erased. Throws `overloaded` while one is being erased. */
async function erasuresOf(db: Database, app: AppId): Promise<number> {
  const { begun, ended } = await db.queryOne(ERASED, { app }, SEAL);
  if (begun !== ended) throw erasing();
  return ended;
}

const erasing = (): AppError =>
  new AppError('overloaded', 'A visitor of this app is being erased. Export it again when that has ended.', {
    retryAfterSeconds: 60,
  });

async function* batchesOf(db: Database, app: AppId, until: EpochMs) {
  for (let after = FIRST_BATCH; ; ) {
    const found = await db.query(STORED, { app, after, until, limit: MOST_BATCHES }, SEAL);
    const last = found.at(-1);
    if (last === undefined) return;
    yield found;
    after = last.batch;
  }
}

/** Joins hours to chunks of about MOST_EVENTS, and splits larger hours. */
function* chunksOf(hours: readonly { readonly hour: number; readonly events: number }[]): Generator<Chunk> {
  let from: number | null = null;
  let to = 0;
  let sum = 0;
  for (const { hour, events } of hours) {
    if (from !== null && sum + events > MOST_EVENTS) {
      yield* partsOf(from, to, sum);
      from = null;
      sum = 0;
    }
    from ??= hour;
    to = hour + HOUR_MS;
    sum += events;
  }
  if (from !== null) yield* partsOf(from, to, sum);
}

function* partsOf(from: number, to: number, events: number): Generator<Chunk> {
  const parts = Math.ceil(events / MOST_EVENTS);
  for (let part = 0; part < parts; part++) yield { from, to, parts, part };
}

const nameOf = (folder: string, number: number): string =>
  `${folder}${String(number).padStart(6, '0')}.ndjson.gz`;

function withoutDefaults(values: readonly unknown[]): object {
  const row: Record<string, unknown> = {};
  COLUMNS.forEach((column, i) => {
    const value = values[i];
    if (value !== '' && value !== 0) row[column] = value;
  });
  return row;
}
