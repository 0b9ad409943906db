import { migrate } from '../clickhouse/migrate.ts';
import { readConfig } from '../config.ts';
import { openStore } from '../start-errors.ts';
import { expectNoArguments } from './arguments.ts';
import { sayEnd } from './cli-error.ts';

/**
 * Migrates the store to this version's schema without starting the service, which does the same at its start.
 * Prints `{"applied": [names]}`. On failure exits with 1 and one line on standard error.
 */
async function main(): Promise<void> {
  expectNoArguments('Usage: npm run migrate. Settings are environment variables, see README.md.');
  const { store } = readConfig(process.env);
  const db = await openStore(store);
  try {
    console.log(JSON.stringify({ applied: await migrate(db) }));
  } finally {
    await db.close();
  }
}

main().catch(sayEnd);
