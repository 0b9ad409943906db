import { assertWhole } from '../backup/restore.ts';
import { migrate, schemaOf } from '../clickhouse/migrate.ts';
import { readConfig } from '../config.ts';
import { openStore } from '../start/errors.ts';

/**
 * Migrates the store to this version's schema without starting the service, which does the same at its start.
 * Resolves to the names of the applied migrations.
 */
export async function migrateStore(): Promise<{ readonly applied: readonly string[] }> {
  const { store } = readConfig();
  const db = await openStore(store);
  try {
    await assertWhole(db);
    return { applied: await migrate(db) };
  } finally {
    await db.close();
  }
}

/** Returns the statements that make the schema on this store, as text for a SQL client. Creates no table. */
export async function printSchema(): Promise<string> {
  const db = await openStore(readConfig().store);
  try {
    return schemaOf(db)
      .map((statement) => `${statement};\n`)
      .join('\n');
  } finally {
    await db.close();
  }
}
