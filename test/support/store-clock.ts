import { z } from 'zod';
import type { Database, Query } from '../../src/clickhouse/database.ts';
import { identifier, sql, unchecked } from '../../src/clickhouse/sql.ts';

const OWN_TIMES: Query<{ table: string; column: string; type: string; at: string }> = {
  name: 'columns that the store fills with its time',
  sql: sql`SELECT table, name AS column, type, default_expression AS at FROM system.columns
        WHERE database = currentDatabase() AND default_expression LIKE '%now64%'`,
  row: z.object({ table: z.string(), column: z.string(), type: z.string(), at: z.string() }),
};

/** Sets the clock that stamps rows in the store, in days from the true time. */
export async function setStoreClock(db: Database, days: number): Promise<void> {
  for (const { table, column, type } of await db.query(OWN_TIMES)) {
    const statement = sql`ALTER TABLE ${identifier(table)} MODIFY COLUMN ${identifier(column)} ${unchecked(type)} DEFAULT now64(3) + INTERVAL ${days} DAY`;
    await db.command('set clock', statement);
  }
}
