import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { connect, type StoreLocation } from '../src/clickhouse/connect.ts';
import type { Database, Params } from '../src/clickhouse/database.ts';
import { type Sql, sql } from '../src/clickhouse/sql.ts';

/** The engine's reads for one question's statements. */
export interface Reads {
  readonly rows: number;
  readonly bytes: number;
}

interface Statement {
  readonly sql: Sql;
  readonly params: Params;
}

/** Returns the statements that `ask` runs on `db`. */
export async function statementsOf(db: Database, ask: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const [query, rows] = [db.query.bind(db), db.rows.bind(db)];
  const [list, rowsUpTo] = [db.list.bind(db), db.rowsUpTo.bind(db)];
  db.query = (asked, params = {}, options = {}) => {
    statements.push({ sql: asked.sql, params });
    return query(asked, params, options);
  };
  db.rows = (asked, options = {}, params = {}) => {
    statements.push({ sql: asked.sql, params });
    return rows(asked, options, params);
  };
  db.list = (asked, options = {}) => {
    statements.push({ sql: asked.sql, params: {} });
    return list(asked, options);
  };
  db.rowsUpTo = (asked, bytes, options = {}, params = {}) => {
    statements.push({ sql: asked.sql, params });
    return rowsUpTo(asked, bytes, options, params);
  };
  try {
    await ask();
  } finally {
    db.query = query;
    db.rows = rows;
    db.list = list;
    db.rowsUpTo = rowsUpTo;
  }
  return statements;
}

const StatisticsSchema = z.object({
  statistics: z.object({ rows_read: z.coerce.number(), bytes_read: z.coerce.number() }),
});

/** Counts reads. The embedded engine has no query log, but its answers in the format JSON state the reads. */
export async function openReadCounter(location: StoreLocation) {
  const connections = await connect(location);
  const client = connections.at('read', 0);
  return {
    async count(statements: readonly Statement[]): Promise<Reads> {
      let reads: Reads = { rows: 0, bytes: 0 };
      for (const { sql: asked, params } of statements) {
        const query = sql`${asked}\nSETTINGS max_execution_time = 300, max_memory_usage = 0\nFORMAT JSON`;
        const { stream } = await client.exec({ query, query_params: { ...params } });
        const { statistics } = StatisticsSchema.parse(await json(stream));
        reads = { rows: reads.rows + statistics.rows_read, bytes: reads.bytes + statistics.bytes_read };
      }
      return reads;
    },
    close: () => connections.close(),
  };
}
