import { z } from 'zod';
import type { TimeSpent } from '../../src/answers/rows.ts';
import type { Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { OpenRange } from '../../src/domain/time.ts';
import { appRange, closed, type RawDatabase } from './ask.ts';
import { averageMs } from './rounding.ts';

interface Row {
  readonly path: string;
  readonly totalMs: number;
  readonly views: number;
  readonly engagements: number;
}

const TIME_SPENT: Query<Row> = {
  name: 'time spent',
  sql: sql`SELECT path, sum(duration_ms) AS totalMs, countIf(type = 'pageview') AS views, countIf(type = 'engagement') AS engagements
FROM events
WHERE app_id = {app:UUID} AND type IN ('pageview', 'engagement')
    AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY path
HAVING engagements > 0
ORDER BY totalMs DESC, path
LIMIT {limit:UInt64}`,
  row: z.object({ path: z.string(), totalMs: z.number(), views: z.number(), engagements: z.number() }),
};

export async function timeSpent(
  db: RawDatabase,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<TimeSpent[]> {
  const rows = await db.query(TIME_SPENT, { ...appRange(app, closed(range)), limit });
  return rows.map(({ path, totalMs, views, engagements }) => ({
    path,
    totalMs,
    averageMs: averageMs(totalMs, views > 0 ? views : engagements),
  }));
}
