import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';
import { DAY_MS, epochMs, toIso } from '../domain/time.ts';
import { type BatchKey, batchKey } from './batch-key.ts';
import { type BatchRows, TYPES } from './journal-rows.ts';
import { hoursOf } from './ledger-rows.ts';

/** A batch that the store refused, for the operator. */
export interface SetAsideBatch {
  readonly id: string;
  readonly appId: string;
  readonly batchId: string;
  readonly events: number;
  /** The engine's code for the reason; 0 if it gave none. The engine's words are in the log. */
  readonly code: number;
  readonly setAsideAt: string;
}

/** The most that is put aside. If more is refused, single batches are not the cause. */
const MOST = { batches: 10_000, bytes: 1024 ** 3 } as const;
const WRITER = { lane: 'write' } as const;

const SIZE: Query<{ batches: number; bytes: number }> = {
  name: 'ingestion: size of what is put aside',
  sql: sql`SELECT toUInt32(count()) AS batches, toFloat64(sum(length(rows))) AS bytes FROM ingest_set_aside`,
  row: z.object({ batches: z.number(), bytes: z.number() }),
};

/** Selects batches that were stored since, by their sender or by an interrupted repetition. */
const STORED_SINCE = sql`(app_id, batch_id) IN
  (SELECT app_id, batch_id FROM ingest_batches WHERE (app_id, batch_id) IN (SELECT app_id, batch_id FROM ingest_set_aside))`;

const LIST: Query<SetAsideBatch> = {
  name: 'ingestion: list of what is put aside',
  sql: sql`
    SELECT toString(id) AS id, toString(app_id) AS appId, toString(batch_id) AS batchId, events, code,
      toUnixTimestamp64Milli(set_aside_at) AS at
    FROM ingest_set_aside FINAL WHERE NOT (${STORED_SINCE}) ORDER BY at, id`,
  row: z
    .object({
      id: z.string(),
      appId: z.string(),
      batchId: z.string(),
      events: z.number(),
      code: z.number(),
      at: z.number(),
    })
    .transform(({ at, ...row }) => ({ ...row, setAsideAt: toIso(epochMs(at)) })),
};

const ONE: Query<BatchRows & { readonly key: BatchKey }> = {
  name: 'ingestion: batch that is put aside',
  sql: sql`
    SELECT toString(app_id) AS app, toString(batch_id) AS batch, events, rows
    FROM ingest_set_aside FINAL WHERE id = {id:UUID}`,
  row: z
    .object({ app: z.string(), batch: z.string(), events: z.number(), rows: z.string() })
    .transform(({ app, batch, events, rows: text }) => {
      const rows = text.split('\n');
      return { key: { app, batch }, events, rows, hours: hoursOf(app, rows.flatMap(sessionOf)) };
    }),
};

const JournalRow = z.object({
  session_id: z.string(),
  started_at: z.number(),
  visitor_id: z.string().default(''),
  offsets: z.array(z.number()),
  types: z.array(z.number().transform((type) => z.literal(TYPES).parse(TYPES[type - 1]))),
});

/** Returns the session of a journal row. Some rows have none. */
function sessionOf(row: string) {
  const { success, data } = JournalRow.safeParse(JSON.parse(`{${row}`));
  if (!success) return [];
  const { session_id: id, started_at: startedAt, visitor_id: visitorId, offsets, types } = data;
  const events = types.map((type, i) => ({ type, timestamp: epochMs(startedAt + (offsets[i] ?? 0)) }));
  return [{ id, startedAt: epochMs(startedAt), visitorId, events }];
}

/** Before this, raw events of the app have expired, or may expire before the batch is stored. */
const EXPIRED: Query<{ until: number }> = {
  name: 'ingestion: horizon of an app',
  sql: sql`SELECT max(v.horizon) + if(max(v.horizon) = 0, 0, ${DAY_MS}) AS until FROM sealing_verdicts AS v
    WHERE app_id = {app:UUID} AND verdict = 'published'`,
  row: z.object({ until: z.number() }),
};

export type SetAside = ReturnType<typeof createSetAside>;

/**
 * Batches that the store refused alone, with everything that is needed to store them later. None of them was
 * acknowledged.
 */
export function createSetAside(db: Database) {
  const done = (id: string): Promise<void> =>
    db.command(
      'ingestion: drop what is put aside',
      sql`ALTER TABLE ingest_set_aside DELETE WHERE id = {id:UUID} SETTINGS mutations_sync = 2`,
      { id },
    );
  /** Returns the rows of a batch. Throws `not_found`. */
  const get = async (id: string): Promise<BatchRows & { readonly key: BatchKey }> => {
    const [found] = await db.query(ONE, { id }, WRITER);
    if (found === undefined) throw new AppError('not_found', 'No batch is put aside under this id.');
    return found;
  };
  return {
    /** Returns the rows of a batch to store them. Throws `not_found`, and `beyond_retention` if they have expired. */
    async take(id: string): Promise<BatchRows & { readonly key: BatchKey }> {
      const found = await get(id);
      const { until } = await db.queryOne(EXPIRED, { app: found.key.app }, WRITER);
      if (found.hours.some(({ kind, hour }) => kind === 'session' && hour < until)) {
        const detail = "Sessions of this group are older than its app's retention. Drop it.";
        throw new AppError('beyond_retention', detail);
      }
      return found;
    },
    list: (): Promise<SetAsideBatch[]> => db.query(LIST, {}, WRITER),
    /** Puts a batch aside. A repeated batch replaces itself. False if too much is put aside. */
    add: async (
      { app, batch, events, rows }: BatchKey & BatchRows,
      code: number | null,
    ): Promise<boolean> => {
      const size = await db.queryOne(SIZE, {}, WRITER);
      if (size.batches >= MOST.batches || size.bytes >= MOST.bytes) return false;
      const row = { id: idOf({ app, batch }), app_id: app, batch_id: batch, events, code: code ?? 0 };
      await db.insert('ingest_set_aside', [{ ...row, rows: rows.join('\n') }]);
      return true;
    },
    drop: async (id: string): Promise<void> => {
      await get(id);
      await done(id);
    },
    /** Removes a batch after its repetition. */
    done,
    /** Forgets batches that were stored since. Call it more often than batch ids are forgotten. */
    forget: async (): Promise<void> => {
      if ((await db.queryOne(SIZE, {}, WRITER)).batches === 0) return;
      const statement = sql`ALTER TABLE ingest_set_aside DELETE WHERE ${STORED_SINCE}`;
      await db.command('ingestion: forget what was stored since', statement, {}, { lane: 'seal' });
    },
  };
}

/** Returns an id that the operator can type. The same batch always has the same id. */
const idOf = (batch: BatchKey): string =>
  createHash('sha256')
    .update(batchKey(batch))
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
