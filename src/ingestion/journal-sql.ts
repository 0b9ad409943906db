import { z } from 'zod';
import type { Query } from '../clickhouse/database.ts';
import { type Sql, sql } from '../clickhouse/sql.ts';
import { type EpochMs, epochMs } from '../domain/time.ts';
import type { BatchKey } from './batch-key.ts';

/* The statements with which the journal is read and tidied. */

export type Verdict = 'store' | 'abandon';

/** A flush that is not settled, found by a sweep. */
export interface OpenFlush {
  readonly id: string;
  /** One of its batches. All batches of a flush are marked together, so one is enough. */
  readonly batch: BatchKey;
  /** True if it was written with the verdict `store`. */
  readonly decided: boolean;
}

/** A pause that nobody ends lapses after this time, by the store's clock. */
export const PAUSE_SECONDS = 20;

const uuid = z.string();

/** Returns a superset: combines every app with every batch. */
export const STORED: Query<{ app: string; batch: string }> = {
  name: 'ingestion: stored batches',
  sql: sql`
    SELECT toString(app_id) AS app, toString(batch_id) AS batch FROM ingest_batches
    WHERE app_id IN {apps:Array(UUID)} AND batch_id IN {batches:Array(UUID)}`,
  row: z.object({ app: uuid, batch: uuid }),
};

export const STORED_AFTER: Query<BatchKey> = {
  name: 'ingestion: batches that are remembered',
  sql: sql`
    SELECT toString(app_id) AS app, toString(batch_id) AS batch FROM ingest_batches
    WHERE app_id > {app:UUID} OR app_id = {app:UUID} AND batch_id > {batch:UUID}
    ORDER BY app_id, batch_id LIMIT {limit:UInt32}`,
  row: z.object({ app: uuid, batch: uuid }),
};
export const FIRST: BatchKey = {
  app: '00000000-0000-0000-0000-000000000000',
  batch: '00000000-0000-0000-0000-000000000000',
};

/** Selects the batches of a flush, by the table's order or by its filter on batch ids. */
const MINE = sql`
    (app_id, batch_id) IN (SELECT app_id, batch_id FROM ingest_journal WHERE flush_id = {flush:UUID})
      AND batch_id IN (SELECT batch_id FROM ingest_journal WHERE flush_id = {flush:UUID})`;
const CLAIM = z.object({ app: uuid, batch: uuid, flush: uuid });
export type ClaimRow = z.infer<typeof CLAIM>;

/** Settled flushes count too while they are in the journal: see `claims`. */
export const CLAIMED: Query<ClaimRow> = {
  name: 'ingestion: claims',
  sql: sql`
    SELECT DISTINCT toString(app_id) AS app, toString(batch_id) AS batch, toString(flush_id) AS flush
    FROM ingest_journal
    WHERE ${MINE} AND flush_id != {flush:UUID}
      AND flush_id NOT IN (SELECT flush_id FROM ingest_verdicts WHERE verdict = 'abandon')`,
  row: CLAIM,
};

export const STORED_OF_FLUSH: Query<ClaimRow> = {
  name: 'ingestion: stored batches of a flush',
  sql: sql`
    SELECT toString(app_id) AS app, toString(batch_id) AS batch, toString(flush_id) AS flush
    FROM ingest_batches WHERE ${MINE}`,
  row: CLAIM,
};

/**
 * The verdict does not depend on time. `abandon` is written only if there is no verdict yet. If both exist,
 * `store` came too late.
 */
const STANDING = sql`multiIf(countIf(verdict = 'abandon') > 0, 'abandon', count() > 0, 'store', 'none') AS verdict`;
const verdict = z.enum(['store', 'abandon', 'none']);
export const VERDICT: Query<{ verdict: Verdict | 'none' }> = {
  name: 'ingestion: verdict',
  sql: sql`SELECT ${STANDING} FROM ingest_verdicts WHERE flush_id = {flush:UUID}`,
  row: z.object({ verdict }),
};

export const VERDICT_AND_PAUSES: Query<{ verdict: Verdict | 'none'; pauses: number }> = {
  name: 'ingestion: verdict and pauses',
  sql: sql`
    SELECT ${STANDING},
      (SELECT toUInt32(count()) FROM ingest_pauses FINAL
        WHERE ended = 0 AND abs(dateDiff('second', paused_at, now64(3))) < ${PAUSE_SECONDS}) AS pauses
    FROM ingest_verdicts WHERE flush_id = {flush:UUID}`,
  row: z.object({ verdict, pauses: z.number() }),
};

export const IS_STORED: Query<{ stored: number }> = {
  name: 'ingestion: is stored',
  sql: sql`
    SELECT count() > 0 AS stored FROM ingest_batches
    WHERE app_id = {app:UUID} AND batch_id = {batch:UUID} AND flush_id = {flush:UUID}`,
  row: z.object({ stored: z.coerce.number() }),
};

export const IS_WRITTEN: Query<{ written: number }> = {
  name: 'ingestion: is written down',
  sql: sql`SELECT count() > 0 AS written FROM ingest_journal WHERE flush_id = {flush:UUID}`,
  row: z.object({ written: z.coerce.number() }),
};

export const BATCHES: Query<BatchKey> = {
  name: 'ingestion: batches of a flush',
  sql: sql`
    SELECT DISTINCT toString(app_id) AS app, toString(batch_id) AS batch
    FROM ingest_journal WHERE flush_id = {flush:UUID}`,
  row: z.object({ app: uuid, batch: uuid }),
};

/** Selects settled flushes. All batches of a flush are marked together, so one of them is enough. */
const SETTLED = sql`
    SELECT flush_id FROM ingest_verdicts WHERE verdict = 'abandon'
    UNION ALL
    SELECT flush_id FROM ingest_batches
    WHERE (app_id, batch_id) IN
      (SELECT one.1, one.2 FROM (SELECT any((app_id, batch_id)) AS one FROM ingest_journal GROUP BY flush_id))`;

export const OPEN: Query<OpenFlush> = {
  name: 'ingestion: open flushes',
  sql: sql`
    SELECT toString(flush_id) AS id, max(decided) AS decided, any((app_id, batch_id)) AS one,
      toString(one.1) AS app, toString(one.2) AS batch
    FROM ingest_journal WHERE flush_id NOT IN (${SETTLED})
    GROUP BY flush_id ORDER BY id`,
  row: z
    .object({ id: uuid, decided: z.number(), app: uuid, batch: uuid })
    .transform(({ id, decided, app, batch }) => ({ id, batch: { app, batch }, decided: decided === 1 })),
};

/** The ids of flushes at a moment by the store's clock. */
export interface FlushesAt {
  readonly flushes: readonly string[];
  readonly at: EpochMs;
}

const flushesAt = (where: Sql): Sql =>
  sql`SELECT toUnixTimestamp64Milli(now64(3)) AS at, groupUniqArray(toString(flush_id)) AS flushes
    FROM ingest_journal WHERE ${where}`;
const FLUSHES_AT = z.object({ flushes: z.array(uuid), at: z.number().transform(epochMs) });

/** An app's flushes that are not settled. If there are none, all of the app's events up to `at` are stored. */
export const UNSETTLED: Query<FlushesAt> = {
  name: 'ingestion: unsettled flushes of an app',
  sql: flushesAt(sql`app_id = {app:UUID} AND flush_id NOT IN (${SETTLED})`),
  row: FLUSHES_AT,
};

/**
 * Flushes of which a part may be stored, with events of one of `apps`, or of any app if there is none. Flushes without a
 * verdict do not count.
 */
export const UNDERWAY: Query<FlushesAt> = {
  name: 'ingestion: flushes underway',
  sql: flushesAt(
    sql`(empty({apps:Array(UUID)}) OR app_id IN {apps:Array(UUID)}) AND (decided = 1 OR flush_id IN (SELECT flush_id FROM ingest_verdicts)) AND flush_id NOT IN (${SETTLED})`,
  ),
  row: FLUSHES_AT,
};

export const OUTDATED: Query<{ rows: number }> = {
  name: 'ingestion: settled flushes',
  sql: sql`SELECT toUInt32(count()) AS rows FROM ingest_journal WHERE flush_id IN (${SETTLED})`,
  row: z.object({ rows: z.number() }),
};
export const FORGET_JOURNAL = sql`ALTER TABLE ingest_journal DELETE WHERE flush_id IN (${SETTLED}) SETTINGS mutations_sync = 2`;
export const FORGET_VERDICTS = sql`
  ALTER TABLE ingest_verdicts DELETE WHERE flush_id NOT IN (SELECT flush_id FROM ingest_journal)`;

export const BATCHES_OF_FLUSHES = sql`
  SELECT DISTINCT app_id, batch_id, flush_id FROM ingest_journal WHERE flush_id IN {flushes:Array(UUID)}`;
