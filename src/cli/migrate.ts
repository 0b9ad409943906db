import { migrate } from '../clickhouse/migrate.ts';
import { readConfig } from '../config.ts';
import { openStore } from '../start-errors.ts';

/**
 * Migrates the store to this version's schema without starting the service, which does the same at its start.
 * Resolves to the names of the applied migrations.
 */
export async function migrateStore(): Promise<{ readonly applied: readonly string[] }> {
  const { store } = readConfig();
  const db = await openStore(store);
  try {
    return { applied: await migrate(db) };
  } finally {
    await db.close();
  }
}
