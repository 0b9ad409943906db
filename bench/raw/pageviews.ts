import { z } from 'zod';
import type { PageView } from '../../src/answers/rows.ts';
import type { Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { Segment } from '../../src/domain/segment.ts';
import type { OpenRange } from '../../src/domain/time.ts';
import { appRange, closed, type RawDatabase } from './ask.ts';
import { eventsIn } from './segment.ts';
import { SESSION_HASH } from './sessions-sql.ts';

const pageviewsOf = (segment: Segment | null): Query<PageView> => ({
  name: 'pageviews',
  sql: sql`SELECT path, count() AS views, uniqExact(${SESSION_HASH}) AS uniqueSessions
FROM events
WHERE app_id = {app:UUID} AND type = 'pageview'
    AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')${eventsIn(segment)}
GROUP BY path
ORDER BY views DESC, path
LIMIT {limit:UInt64}`,
  row: z.object({ path: z.string(), views: z.number(), uniqueSessions: z.number() }),
});

export function pageviews(
  db: RawDatabase,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
  segment: Segment | null = null,
): Promise<PageView[]> {
  return db.query(pageviewsOf(segment), { ...appRange(app, closed(range)), limit });
}
