import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Database, Query } from '../../src/clickhouse/database.ts';
import { identifier, join as listed, sql } from '../../src/clickhouse/sql.ts';
import { filesBelow, hasOneOf } from './files.ts';

/*
 * Searches a whole store for texts: every column of every table, rows included that are only marked as deleted,
 * and every file of the store's folder. Files of columns are compressed, so a part of a table counts as searched
 * only if its rows are. A part that is no more in use, or that the engine does not know, is a trace by itself.
 */

/** On a cluster, some tables are in the database of the shards. */
const OURS = sql`database IN (currentDatabase(), {shards:String})`;
const shardsOf = (db: Database) => ({ shards: db.shards.database ?? '' });

const TABLES: Query<{ database: string; table: string; columns: string[]; folder: string }> = {
  name: 'tables to search',
  sql: sql`SELECT t.database AS database, t.name AS table, groupArray(c.name) AS columns, any(t.data_paths[1]) AS folder
FROM system.tables AS t JOIN system.columns AS c ON c.database = t.database AND c.table = t.name
WHERE t.${OURS} AND t.engine LIKE '%MergeTree' AND c.default_kind != 'ALIAS'
GROUP BY database, table ORDER BY table`,
  row: z.object({
    database: z.string(),
    table: z.string(),
    columns: z.array(z.string()),
    folder: z.string(),
  }),
};

const IN_USE: Query<{ path: string }> = {
  name: 'parts in use',
  sql: sql`SELECT path FROM system.parts WHERE ${OURS} AND active`,
  row: z.object({ path: z.string() }),
};
/** While these stay the same and no merge runs, the engine writes and removes no files of tables. */
const PARTS: Query<{ parts: [string, number][]; merges: number }> = {
  name: 'parts and merges',
  sql: sql`SELECT arraySort(groupArray((path, active))) AS parts, (SELECT toUInt32(count()) FROM system.merges WHERE ${OURS}) AS merges
FROM system.parts WHERE ${OURS}`,
  row: z.object({ parts: z.array(z.tuple([z.string(), z.number()])), merges: z.number() }),
};
const INACTIVE: Query<{ database: string; table: string }> = {
  name: 'tables with old parts',
  sql: sql`SELECT DISTINCT database, table FROM system.parts WHERE ${OURS} AND NOT active`,
  row: z.object({ database: z.string(), table: z.string() }),
};

/**
 * Returns where one of the texts is found: `table.column`, or `table: file`. The files of a part in use are left out
 * if its rows hold the text. Searches again if files of tables came or went meanwhile.
 */
export async function tracesOf(db: Database, texts: readonly string[]): Promise<string[]> {
  const look = () => db.queryOne(PARTS, shardsOf(db));
  for (;;) {
    await withoutOldParts(db);
    const before = await look();
    const found = await foundIn(db, texts);
    const isStill = before.merges === 0 && isDeepStrictEqual(before, await look());
    if (isStill) return found;
    await sleep(200);
  }
}

/** The same without a look at what comes and goes, and without the engine's help to drop old parts. */
export async function foundIn(db: Database, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const tables = await db.query(TABLES, shardsOf(db));
  for (const { database, table, columns } of tables) {
    const counts = columns.map(
      (column) => sql`countIf(multiSearchAny(toString(${identifier(column)}), {texts:Array(String)}))`,
    );
    const statement = sql`SELECT * FROM (SELECT [${listed(counts)}] AS found FROM ${identifier(database)}.${identifier(table)} SETTINGS apply_deleted_mask = 0)`;
    const row = z.object({ found: z.array(z.number()) });
    const { found: rows } = await db.queryOne(
      { name: 'search', sql: statement, row },
      { texts },
      { lane: 'seal' },
    );
    found.push(...columns.filter((_, i) => rows[i] !== 0).map((column) => `${table}.${column}`));
  }
  const inRows = new Set(found.map((where) => where.split('.')[0]));
  const parts = new Set((await db.query(IN_USE, shardsOf(db))).map(({ path }) => path));
  for (const { table, folder } of tables) {
    for (const file of filesBelow(folder)) {
      const [part = ''] = file.split(sep);
      const isInUse = parts.has(`${join(folder, part)}/`);
      if (!isInUse && file !== part && part !== 'deduplication_logs') found.push(`${table}: ${part} is left`);
      if (isInUse && inRows.has(table)) continue;
      if (hasOneOf(join(folder, file), texts)) found.push(`${table}: ${file}`);
    }
  }
  return [...new Set(found)];
}

/**
 * Resolves when no table has old parts: those that a merge or a deletion has replaced. By itself, the engine drops
 * them within 40 s. To drop a partition that is not there makes it look at once.
 */
async function withoutOldParts(db: Database): Promise<void> {
  const find = () => db.query(INACTIVE, shardsOf(db));
  for (let old = await find(); old.length > 0; old = await find()) {
    await sleep(200);
    for (const { database, table } of old) {
      await db.command(
        'drop old parts',
        sql`ALTER TABLE ${identifier(database)}.${identifier(table)} DROP PARTITION ID 'none'`,
        {},
        { lane: 'seal' },
      );
    }
  }
}
