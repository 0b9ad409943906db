import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { migrate, readMigrations } from '../clickhouse/migrate.ts';
import { identifier, join, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import {
  assertNoCluster,
  DATABASE,
  MANIFEST,
  NAME_INSIDE,
  ROWS,
  TABLES,
  UNFINISHED,
  WITH_FACTS,
} from './contents.ts';
import { engineWork } from './engine-work.ts';

/** The report of a restore, at its end. */
export interface Restored {
  readonly path: string;
  /** The state that the store now has. */
  readonly madeAt: string;
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
  readonly accounts: number;
  readonly apps: number;
  readonly events: number;
  /** Migrations that are newer than the backup. */
  readonly migrated: readonly string[];
  readonly seconds: number;
}

/** The restore cannot be done, or was not done; the message says what to do. */
export class RestoreError extends Error {
  override readonly name = 'RestoreError';
}

const UNLIMITED = { lane: 'seal', maxSeconds: 86_400 } as const;

const INSIDE = identifier(NAME_INSIDE);

const HAS_UNFINISHED: Query<{ found: number }> = {
  name: 'restore: unfinished',
  sql: sql`SELECT toUInt32(count()) AS found FROM system.tables WHERE database = currentDatabase() AND name = ${quoted(UNFINISHED)}`,
  row: z.object({ found: z.number() }),
};

const ManifestRow = z.object({
  table: z.string(),
  rows: z.number(),
  schema: z.number(),
  madeAt: z.string(),
});
const MANIFEST_ROWS: Query<z.infer<typeof ManifestRow>> = {
  name: 'restore: manifest',
  sql: sql`SELECT table, rows, schema, formatDateTime(made_at, '%FT%TZ', 'UTC') AS madeAt FROM ${identifier(UNFINISHED)} ORDER BY table`,
  row: ManifestRow,
};

/** The engine reads all of a table and compares its checksums. */
const checkOf = (table: string): Query<{ part_path: string; is_passed: boolean; message: string }> => ({
  name: 'restore: check',
  sql: sql`CHECK TABLE ${identifier(table)}`,
  row: z.object({ part_path: z.string(), is_passed: z.coerce.boolean(), message: z.string() }),
});

const COUNTS: Query<{ accounts: number; apps: number; events: number }> = {
  name: 'restore: counts',
  sql: sql`SELECT (SELECT count() FROM accounts FINAL) AS accounts, (SELECT count() FROM apps FINAL) AS apps,
  (SELECT count() FROM events) AS events`,
  row: z.object({ accounts: z.number(), apps: z.number(), events: z.number() }),
};

/** Throws if a restore into this store did not end. */
export async function assertWhole(db: Database): Promise<void> {
  if ((await db.queryOne(HAS_UNFINISHED, {}, { lane: 'lookup' })).found === 0) return;
  throw new RestoreError(
    'The restore of a backup into this store did not end, so the store is not whole: run "session-analytics restore DIR" again. It begins from the start.',
  );
}

/**
 * Restores a backup into an empty store. No process may use the store meanwhile. The backup's manifest is restored
 * first, and dropped last: a store that has it is not whole, and no service starts on it. A restore that was
 * interrupted is simply repeated.
 */
export async function restore(db: Database, path: string): Promise<Restored> {
  const began = performance.now();
  assertNoCluster(db);
  const { name: database } = await db.queryOne(DATABASE, {}, { lane: 'lookup' });
  await assertEmpty(db);
  await db.command('restore: drop', sql`DROP DATABASE IF EXISTS ${identifier(database)} SYNC`);
  await db.command('restore: create', sql`CREATE DATABASE ${identifier(database)}`);
  const of = (table: string): Sql => sql`${identifier(database)}.${identifier(table)}`;
  const from = sql`FROM File(${quoted(path)})`;
  await engineWork(
    db,
    'restore: manifest',
    sql`RESTORE TABLE ${INSIDE}.${identifier(MANIFEST)} AS ${of(UNFINISHED)} ${from}`,
  );
  const listed = await db.query(MANIFEST_ROWS, {}, { lane: 'lookup' });
  const [{ schema, madeAt } = { schema: 0, madeAt: '' }] = listed;
  const known = readMigrations();
  if (!known.some(({ version }) => version === schema)) {
    await db.command('restore: give up', sql`DROP TABLE ${identifier(UNFINISHED)} SYNC`);
    throw new RestoreError(
      `The backup was made by a newer version (schema ${schema}): restore it with that version.`,
    );
  }
  await migrate(
    db,
    known.filter(({ version }) => version <= schema),
  );
  const own = new Set((await db.query(WITH_FACTS, {}, { lane: 'lookup' })).map(({ table }) => table));
  // The backup may hold tables of others.
  const manifest = listed.filter(({ table }) => own.has(table));
  // A merge would change the numbers of rows that are compared below.
  for (const { table } of manifest)
    await db.command('restore: hold merges', sql`SYSTEM STOP MERGES ${of(table)}`);
  const tables = manifest.map(({ table }) => sql`TABLE ${INSIDE}.${identifier(table)} AS ${of(table)}`);
  const bytes = await engineWork(
    db,
    'restore',
    sql`RESTORE ${join(tables)} ${from} SETTINGS allow_different_table_def = 1`,
  );
  await verify(db, database, manifest);
  for (const { table } of manifest)
    await db.command('restore: release merges', sql`SYSTEM START MERGES ${of(table)}`);
  await db.command(
    'restore: begun events',
    sql`INSERT INTO ingest_begun SELECT app_id, kind, hour, toInt64(sum(l.events)) FROM ledger AS l GROUP BY app_id, kind, hour`,
  );
  const migrated = await migrate(db);
  const counts = await db.queryOne(COUNTS, {}, UNLIMITED);
  await db.command('restore: end', sql`DROP TABLE ${identifier(UNFINISHED)} SYNC`);
  const rows = manifest.reduce((sum, table) => sum + table.rows, 0);
  const seconds = Math.round(performance.now() - began) / 1000;
  return { path, madeAt, tables: manifest.length, rows, bytes, ...counts, migrated, seconds };
}

async function assertEmpty(db: Database): Promise<void> {
  if ((await db.queryOne(HAS_UNFINISHED, {}, { lane: 'lookup' })).found > 0) return;
  const { name: database } = await db.queryOne(DATABASE, {}, { lane: 'lookup' });
  const tables = new Set((await db.query(TABLES, {}, { lane: 'lookup' })).map(({ table }) => table));
  const rows = await db.query(ROWS, { database }, { lane: 'lookup' });
  const full = rows.find((table) => tables.has(table.table) && table.rows > 0);
  if (full === undefined) return;
  throw new RestoreError(
    `The store is not empty (${full.rows} rows in ${full.table}), and a restore replaces nothing: set DATA_DIR to a new folder, or CLICKHOUSE_DATABASE to a new name.`,
  );
}

/** Compares the numbers of rows, and lets the engine read everything and compare its checksums. */
async function verify(
  db: Database,
  database: string,
  manifest: readonly z.infer<typeof ManifestRow>[],
): Promise<void> {
  const rows = new Map((await db.query(ROWS, { database })).map((table) => [table.table, table.rows]));
  for (const { table, rows: expected } of manifest) {
    const found = rows.get(table) ?? 0;
    if (found !== expected) {
      throw new RestoreError(`${table} has ${found} rows in place of ${expected}: the backup is damaged.`);
    }
    const parts = await db.query(checkOf(table), {}, UNLIMITED);
    const broken = parts.find(({ is_passed }) => !is_passed);
    if (broken !== undefined) {
      throw new RestoreError(
        `${table}: part ${broken.part_path} is damaged (${broken.message}): use another backup.`,
      );
    }
  }
}
