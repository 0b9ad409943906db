import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { type Sql, sql } from '../clickhouse/sql.ts';
import { EMPTY } from '../clickhouse/tables.ts';

/** The tables in the order of deletion: the app's own row first, raw events before their facts. */
const TABLES: Query<{ table: string }> = {
  name: 'tables with data of apps',
  sql: sql`SELECT table FROM system.columns
WHERE database = currentDatabase() AND name = 'app_id' AND table != 'deleted_apps'
  AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND (engine LIKE '%MergeTree' OR engine = 'Distributed'))
ORDER BY table = 'apps' DESC, table = 'events' DESC, table`,
  row: z.object({ table: z.string() }),
};

/** Tables with parts that hold deleted rows: sealing only marks rows as deleted, until a merge drops them. */
const MARKED: Query<{ table: string }> = {
  name: 'tables with deleted rows',
  sql: sql`SELECT DISTINCT table FROM system.parts
WHERE database = currentDatabase() AND active AND has_lightweight_delete AND table IN {tables:Array(String)} ORDER BY table`,
  row: z.object({ table: z.string() }),
};

/**
 * Erases the rows of apps from every table: rewrites the parts that hold them. `apps` is an SQL condition on
 * `app_id`. On the sealer's lane, so that neither readers nor ingestion wait. Can be repeated at any time.
 * `beforeEach` is called before each deletion, and ends it by rejecting.
 */
export async function eraseApps(
  db: Database,
  apps: Sql,
  params: { readonly app?: string } = {},
  beforeEach: () => Promise<void> = async () => undefined,
) {
  const { shards } = db;
  const all = (await db.query(TABLES)).map(({ table }) => table);
  const tables = all.filter((table) => !EMPTY.has(table));
  for (const table of tables) {
    const found = { ...ROWS_FOUND, sql: sql`${ROWS_FOUND.sql} WHERE ${apps}` };
    if ((await db.queryOne(found, { table, ...params })).rows === 0) continue;
    await beforeEach();
    await db.command(
      `delete from ${table}`,
      sql`ALTER TABLE ${shards.stored(table)} DELETE WHERE ${apps} SETTINGS mutations_sync = 2`,
      params,
      { lane: 'seal' },
    );
  }
  await dropMarked(db, tables);
}

/** Writes the parts again that hold rows which are only marked as deleted. */
export async function dropMarkedRows(db: Database): Promise<void> {
  const all = (await db.query(TABLES)).map(({ table }) => table);
  await dropMarked(
    db,
    all.filter((table) => !EMPTY.has(table)),
  );
}

async function dropMarked(db: Database, tables: readonly string[]): Promise<void> {
  const { shards } = db;
  // The parts of other shards are not seen from here.
  const marked =
    shards.database === null ? await db.query(MARKED, { tables }) : tables.map((table) => ({ table }));
  for (const { table } of marked) {
    await db.command(
      `drop deleted rows of ${table}`,
      sql`ALTER TABLE ${shards.stored(table)} APPLY DELETED MASK SETTINGS mutations_sync = 2`,
      {},
      { lane: 'seal' },
    );
  }
}

const ROWS_FOUND: Query<{ rows: number }> = {
  name: 'rows of erased apps in table',
  sql: sql`SELECT count() AS rows FROM {table:Identifier}`,
  row: z.object({ rows: z.int() }),
};
