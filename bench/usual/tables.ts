import { z } from 'zod';
import type { Database } from '../../src/clickhouse/database.ts';
import { identifier, sql } from '../../src/clickhouse/sql.ts';
import { BIG_APP } from '../shape.ts';

/** Rollups as many products keep them: by UTC hour, with states of the approximate function uniq. */
const TABLES = {
  usual_pages: {
    columns: sql`hour DateTime('UTC') CODEC(Delta, ZSTD(1)), path LowCardinality(String), views SimpleAggregateFunction(sum, UInt64),
    sessions AggregateFunction(uniq, UInt64)`,
    order: sql`app_id, hour, path`,
    select: sql`SELECT app_id, toStartOfHour(timestamp) AS hour, path, count() AS views, uniqState(cityHash64(session_id, started_at)) AS sessions
FROM events WHERE app_id = {app:UUID} AND type = 'pageview' GROUP BY app_id, hour, path`,
  },
  usual_sessions: {
    columns: sql`hour DateTime('UTC') CODEC(Delta, ZSTD(1)), source LowCardinality(String), medium LowCardinality(String),
    campaign LowCardinality(String), sessions SimpleAggregateFunction(sum, UInt64), visitors AggregateFunction(uniq, UInt64)`,
    order: sql`app_id, hour, source, medium, campaign`,
    select: sql`SELECT app_id, toStartOfHour(started_at) AS hour, s.utm_source.2 AS source, s.utm_medium.2 AS medium, s.utm_campaign.2 AS campaign,
    count() AS sessions, uniqState(cityHash64(s.visitor.2)) AS visitors
FROM all_sessions AS s FINAL WHERE app_id = {app:UUID} GROUP BY app_id, hour, source, medium, campaign`,
  },
} as const;

export const USUAL_TABLES: readonly string[] = Object.keys(TABLES);

/** Makes the rollups of the big app, unless they are there. They belong to a data set, which never changes. */
export async function makeUsualTables(db: Database): Promise<void> {
  for (const [name, { columns, order, select }] of Object.entries(TABLES)) {
    await db.command(
      'usual tables',
      sql`CREATE TABLE IF NOT EXISTS ${identifier(name)} (app_id UUID, ${columns}) ENGINE = AggregatingMergeTree ORDER BY (${order})`,
    );
    const { rows } = await db.queryOne({
      name: 'usual rows',
      sql: sql`SELECT count() AS rows FROM ${identifier(name)}`,
      row: z.object({ rows: z.number() }),
    });
    if (rows > 0) continue;
    const insert = sql`INSERT INTO ${identifier(name)} ${select} SETTINGS max_execution_time = 600, max_memory_usage = 0`;
    await db.command('usual tables', insert, { app: BIG_APP }, { lane: 'seal' });
    await db.command('usual tables', sql`OPTIMIZE TABLE ${identifier(name)} FINAL`, {}, { lane: 'seal' });
  }
}

/** Bytes on disk of tables. */
export async function bytesOf(db: Database, tables: readonly string[]): Promise<number> {
  const { bytes } = await db.queryOne(
    {
      name: 'bytes of tables',
      sql: sql`SELECT sum(bytes_on_disk) AS bytes FROM system.parts
WHERE active AND database = currentDatabase() AND has({tables:Array(String)}, table)`,
      row: z.object({ bytes: z.number() }),
    },
    { tables: [...tables] },
  );
  return bytes;
}
