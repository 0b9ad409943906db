import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { join, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';

/** The database's name inside a backup, whatever it is called in the store. */
export const NAME_INSIDE = 'session_analytics';
/** The table of a backup that lists its content. */
export const MANIFEST = 'backup_manifest';
/** The manifest's name in a store that is being restored. A store that has it is not whole. */
export const UNFINISHED = 'restore_unfinished';

/**
 * Tables that a backup leaves out, besides those of facts, which sealing computes from events, as long as these are
 * there:
 *
 * - the journal and its verdicts: a backup is made while no flush is between its verdict and its marks, so the rows
 *   that are left in the journal were never acknowledged;
 * - begun events: a restore counts them from the ledger;
 * - salts of visitors' ids: they are deleted after two days, which a backup would undo;
 * - links, sessions and secrets of the console: people sign in again after a restore;
 * - the store's own state: migrations, leases, pauses, earlier backups.
 */
const LEFT_OUT = [
  'ingest_journal',
  'ingest_verdicts',
  'ingest_begun',
  'ingest_salts',
  'console_links',
  'console_link_uses',
  'console_sessions',
  'console_secrets',
  'schema_migrations',
  'sealing_leases',
  'ingest_pauses',
  'backups',
  UNFINISHED,
];

const IN_BACKUP = sql`database = currentDatabase() AND engine LIKE '%MergeTree'
  AND name NOT IN (${join(LEFT_OUT.map(quoted))})`;
/** Every row of facts, and of their state, names the run that wrote it. */
const OF_FACTS = sql`name IN (SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'run')`;

/** `events` is the largest. */
const tablesWhere = (condition: Sql): Query<{ table: string }> => ({
  name: 'backup: tables',
  sql: sql`SELECT name AS table FROM system.tables
WHERE ${IN_BACKUP} AND ${condition} ORDER BY name = 'events', name`,
  row: z.object({ table: z.string() }),
});

/** The tables that are in every backup. */
export const TABLES = tablesWhere(sql`NOT ${OF_FACTS}`);
/** All tables that a backup may have. */
export const WITH_FACTS = tablesWhere(sql`true`);

const EXPIRED: Query<{ horizon: number }> = {
  name: 'backup: horizon',
  sql: sql`SELECT max(horizon) AS horizon FROM sealing_verdicts`,
  row: z.object({ horizon: z.number() }),
};

/**
 * Returns the tables of a backup. Once events of an app have expired, facts alone tell about them, so these belong to
 * it, with their state: the horizon is a part of that.
 */
export async function tablesOf(db: Database): Promise<string[]> {
  const { horizon } = await db.queryOne(EXPIRED);
  return (await db.query(horizon > 0 ? WITH_FACTS : TABLES)).map(({ table }) => table);
}

/** Throws an error for the operator on a cluster: its shards and replicas need backups of their own. */
export function assertNoCluster({ shards }: Pick<Database, 'shards'>): void {
  if (shards.database === null) return;
  throw new AppError(
    'bad_request',
    'The store is a cluster: make and restore backups with ClickHouse itself (BACKUP … ON CLUSTER), see docs/backups.md.',
  );
}

export const DATABASE: Query<{ name: string }> = {
  name: 'backup: database',
  sql: sql`SELECT currentDatabase() AS name`,
  row: z.object({ name: z.string() }),
};

/** The rows of these tables, as they are stored: some of them may be merged or deleted rows. */
export const ROWS: Query<{ table: string; rows: number; bytes: number }> = {
  name: 'backup: rows',
  sql: sql`SELECT table, toUInt64(sum(rows)) AS rows, toUInt64(sum(bytes_on_disk)) AS bytes FROM system.parts
WHERE database = {database:String} AND active GROUP BY table ORDER BY table`,
  row: z.object({ table: z.string(), rows: z.number(), bytes: z.number() }),
};
