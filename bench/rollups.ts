import { z } from 'zod';
import type { Database } from '../src/clickhouse/database.ts';
import { sql } from '../src/clickhouse/sql.ts';

/**
 * Selects the buckets in which a rollup differs from the events. The raw questions read two rollups
 * (pageviews by Tehran hour, and the bounds of the data), so both are checked against the events.
 */
const DIFFERENCES = sql`
SELECT count() AS differences FROM
(
    SELECT app_id, what, bucket FROM
    (
        SELECT app_id, 'pageviews' AS what, toInt64(toUnixTimestamp(bucket)) AS bucket, toInt64(t.pageviews) AS n
        FROM traffic AS t WHERE grain = 'tehran_hour'
        UNION ALL
        SELECT app_id, 'pageviews', toInt64(toUnixTimestamp(toStartOfHour(timestamp, 'Asia/Tehran'))), -toInt64(countIf(type = 'pageview'))
        FROM events GROUP BY ALL
        UNION ALL
        SELECT app_id, 'event bounds', 0, toInt64(toUnixTimestamp64Milli(min(l.oldest))) * 1000003 + toUnixTimestamp64Milli(max(l.newest))
        FROM ledger AS l GROUP BY app_id
        UNION ALL
        SELECT app_id, 'event bounds', 0,
            -least(toUnixTimestamp64Milli(min(started_at)), toUnixTimestamp64Milli(min(timestamp))) * 1000003
            - greatest(toUnixTimestamp64Milli(max(started_at)), toUnixTimestamp64Milli(max(timestamp)))
        FROM events GROUP BY app_id
        UNION ALL
        SELECT app_id, 'session bounds', 0, toUnixTimestamp64Milli(min(l.oldest)) * 1000003 + toUnixTimestamp64Milli(max(l.newest))
        FROM ledger AS l WHERE kind = 'session' GROUP BY app_id
        UNION ALL
        SELECT app_id, 'session bounds', 0,
            -toUnixTimestamp64Milli(min(started_at)) * 1000003 - toUnixTimestamp64Milli(max(started_at))
        FROM events GROUP BY app_id
    )
    GROUP BY app_id, what, bucket HAVING sum(n) != 0
)
SETTINGS max_execution_time = 600, max_memory_usage = 0`;

export async function rollupsAreExact(db: Database): Promise<boolean> {
  const { differences } = await db.queryOne({
    name: 'rollups against events',
    sql: DIFFERENCES,
    row: z.object({ differences: z.number() }),
  });
  return differences === 0;
}
