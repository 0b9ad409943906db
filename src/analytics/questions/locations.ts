import { z } from 'zod';
import type { AppId } from '../../domain/ids.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import { HAS_PLACE, mergedSessions } from '../merged-sessions.ts';
import { plan } from '../plan.ts';
import type { Location } from '../results.ts';
import { Bindings, isEmpty, rawRanges, unionAll } from '../sql.ts';

const ROW = z.object({
  country: z.string().nullable(),
  region: z.string().nullable(),
  city: z.string().nullable(),
  latitude: z.number(),
  longitude: z.number(),
  count: z.number(),
});

export async function locations(
  { db, watermarks }: Asker,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Location[]> {
  const bind = new Bindings({ app });
  const pieces = plan(closed(range), (await watermarks(app)).session);
  const raw = rawRanges(pieces);
  const rows = unionAll(
    [
      isEmpty(pieces.sealed)
        ? null
        : `SELECT country, region, city, latitude, longitude, p.sessions AS sessions FROM session_places AS p
WHERE app_id = {app:UUID} AND ${bind.inGrains([pieces])}`,
      raw.length === 0
        ? null
        : `SELECT toLowCardinality(country) AS country, toLowCardinality(region) AS region, toLowCardinality(city) AS city,
    latitude, longitude, count() AS sessions
FROM (${mergedSessions(bind, raw, ['country', 'region', 'city', 'latitude', 'longitude'])}) WHERE ${HAS_PLACE}
GROUP BY country, region, city, latitude, longitude`,
    ],
    '',
  );
  const sql = `SELECT nullIf(toString(r.country), '') AS country, nullIf(toString(r.region), '') AS region,
    nullIf(toString(r.city), '') AS city, latitude, longitude, sum(r.sessions) AS count
FROM (${rows}) AS r
GROUP BY r.country, r.region, r.city, latitude, longitude
ORDER BY count DESC, country NULLS LAST, region NULLS LAST, city NULLS LAST, latitude, longitude
LIMIT ${bind.int(limit)}`;
  return db.query({ name: 'locations', sql, row: ROW }, bind.params, { parallel: pieces.tail !== null });
}
