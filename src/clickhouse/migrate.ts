import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { isError, messageOf } from '../domain/thrown.ts';
import type { Database, Query } from './database.ts';
import { type Sql, sql, unchecked } from './sql.ts';

/** One file of clickhouse/migrations: `0001_events.sql`. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly statements: readonly Sql[];
}

const FOLDER = fileURLToPath(new URL('../../clickhouse/migrations', import.meta.url));
const FILE = /^(\d{4})_([a-z0-9_]+)\.sql$/;

const APPLIED: Query<{ version: number; name: string; checksum: string }> = {
  name: 'migrations applied',
  sql: sql`SELECT version, any(name) AS name, any(checksum) AS checksum FROM schema_migrations GROUP BY version ORDER BY version`,
  row: z.object({ version: z.number(), name: z.string(), checksum: z.string() }),
};

/** Reads the files in order. A statement ends with `;` at the end of a line. */
export function readMigrations(folder: string = FOLDER): Migration[] {
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const [, version, name] = FILE.exec(file) ?? [];
      if (version === undefined || name === undefined) throw new Error(`not a migration's name: ${file}`);
      const text = readFileSync(join(folder, file), 'utf8');
      return {
        version: Number(version),
        name,
        checksum: createHash('sha256').update(text).digest('hex'),
        statements: splitStatements(text),
      };
    });
}

/** The text is a migration's, a file of this package. */
function splitStatements(text: string): Sql[] {
  return text
    .split(/;[ \t]*$/m)
    .map((statement) => statement.replace(/^\s*--.*$/gm, '').trim())
    .filter((statement) => statement !== '')
    .map(unchecked);
}

const OWN_TABLE = sql`CREATE TABLE IF NOT EXISTS schema_migrations
  (version UInt32, name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
ENGINE = MergeTree ORDER BY version
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_merge = 1`;

/** Returns the statements of the whole schema, as this store runs them. */
export const schemaOf = ({ shards }: Database): Sql[] =>
  [OWN_TABLE, ...readMigrations().flatMap(({ statements }) => statements)].flatMap(shards.derive);

/**
 * Migrates the store to the newest version, forward only, and returns the names of the applied migrations.
 * Every statement is idempotent (IF NOT EXISTS), so a migration that failed halfway simply runs again. Throws
 * if an applied file was edited or if the store is newer than the code.
 */
export async function migrate(
  db: Database,
  migrations: readonly Migration[] = readMigrations(),
): Promise<string[]> {
  for (const statement of db.shards.derive(OWN_TABLE))
    await db.command('create schema_migrations', statement);
  const applied = new Map((await db.query(APPLIED)).map((row) => [row.version, row]));
  for (const [version, row] of applied) {
    const file = migrations.find((migration) => migration.version === version);
    if (file === undefined) {
      throw new Error(
        `The store has migration ${version} (${row.name}), which this version does not know: run a newer version.`,
      );
    }
    if (file.checksum !== row.checksum) {
      throw new Error(
        `Migration ${version} (${row.name}) was edited after it was applied: restore the file and add a new one.`,
      );
    }
  }
  const done: string[] = [];
  for (const migration of migrations.filter(({ version }) => !applied.has(version))) {
    await apply(db, migration);
    done.push(migration.name);
  }
  return done;
}

async function apply(db: Database, { version, name, checksum, statements }: Migration): Promise<void> {
  try {
    for (const statement of statements.flatMap(db.shards.derive)) {
      await db.command(`migration ${version}`, statement, {}, { lane: 'seal' });
    }
    await db.insert('schema_migrations', [{ version, name, checksum }], { token: `migration ${version}` });
  } catch (error) {
    throw new Error(
      `Migration ${version} (${name}) failed: ${innermost(error)} Fix the cause and start again: it goes on where it stopped.`,
      { cause: error },
    );
  }
}

/** The store's own error message, in one line. */
function innermost(error: unknown): string {
  if (isError(error) && error.cause !== undefined) return innermost(error.cause);
  const text = messageOf(error);
  return text
    .replace(/\s+/g, ' ')
    .slice(0, 300)
    .replace(/[.\s]*$/, '.');
}
