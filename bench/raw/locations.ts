import { z } from 'zod';
import type { Location } from '../../src/answers/rows.ts';
import type { Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { OpenRange } from '../../src/domain/time.ts';
import { appRange, closed, type RawDatabase } from './ask.ts';
import { sessionsSql } from './sessions-sql.ts';

const LOCATIONS: Query<Location> = {
  name: 'locations',
  sql: sql`SELECT
    nullIf(country, '') AS country, nullIf(region, '') AS region, nullIf(city, '') AS city, latitude, longitude, count() AS count
FROM (${sessionsSql()})
WHERE latitude >= -90 AND longitude >= -180 AND NOT (latitude = 0 AND longitude = 0)
GROUP BY country, region, city, latitude, longitude
ORDER BY count DESC, country NULLS LAST, region NULLS LAST, city NULLS LAST, latitude, longitude
LIMIT {limit:UInt64}`,
  row: z.object({
    country: z.string().nullable(),
    region: z.string().nullable(),
    city: z.string().nullable(),
    latitude: z.number(),
    longitude: z.number(),
    count: z.number(),
  }),
};

export function locations(
  db: RawDatabase,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Location[]> {
  return db.query(LOCATIONS, { ...appRange(app, closed(range)), limit });
}
