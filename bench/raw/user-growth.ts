import { z } from 'zod';
import { growthDays } from '../../src/analytics/range/ranges.ts';
import type { GrowthPoint } from '../../src/answers/rows.ts';
import type { Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { Segment } from '../../src/domain/segment.ts';
import { DAY_MS, epochMs, type OpenRange, type Range, toIso, utcDayStart } from '../../src/domain/time.ts';
import { appRange, closed, type RawDatabase } from './ask.ts';
import { eventsIn } from './segment.ts';
import { sessionsSql } from './sessions-sql.ts';

/** The first and last instant within the range with a session or an event of the app. */
const EXTENT: Query<{ hours: number; oldest: number; newest: number }> = {
  name: 'growth extent',
  sql: sql`SELECT count() AS hours, toUnixTimestamp64Milli(min(l.oldest)) AS oldest, toUnixTimestamp64Milli(max(l.newest)) AS newest
FROM ledger AS l
WHERE l.app_id = {app:UUID}`,
  row: z.object({ hours: z.number(), oldest: z.number(), newest: z.number() }),
};

const sessionsOf = (segment: Segment | null): Query<{ day: number; sessions: number; visitors: number }> => ({
  name: 'growth sessions',
  sql: sql`SELECT intDiv(toUnixTimestamp64Milli(started_at), 86400000) AS day, count() AS sessions, uniqExact(cityHash64(visitor_id)) AS visitors
FROM (${sessionsSql(segment)}) GROUP BY day`,
  row: z.object({ day: z.number(), sessions: z.number(), visitors: z.number() }),
});

const eventsOf = (segment: Segment | null): Query<{ day: number; pageviews: number; clicks: number }> => ({
  name: 'growth events',
  sql: sql`SELECT intDiv(toUnixTimestamp64Milli(timestamp), 86400000) AS day, countIf(type = 'pageview') AS pageviews, countIf(type = 'click') AS clicks
FROM events
WHERE app_id = {app:UUID}
    AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')${eventsIn(segment)}
GROUP BY day`,
  row: z.object({ day: z.number(), pageviews: z.number(), clicks: z.number() }),
});

export async function userGrowth(
  db: RawDatabase,
  app: AppId,
  range: OpenRange,
  segment: Segment | null,
): Promise<GrowthPoint[]> {
  const bounded = await withinData(db, app, range);
  if (bounded === null) return [];
  const { first, last } = growthDays(bounded);
  const params = appRange(app, closed(range));
  const [sessions, events] = await Promise.all([
    db.query(sessionsOf(segment), params),
    db.query(eventsOf(segment), params),
  ]);
  const sessionsAt = new Map(sessions.map((row) => [row.day, row]));
  const eventsAt = new Map(events.map((row) => [row.day, row]));
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const day = first + i;
    return {
      date: toIso(epochMs(day * DAY_MS)).slice(0, 10),
      sessions: sessionsAt.get(day)?.sessions ?? 0,
      visitors: sessionsAt.get(day)?.visitors ?? 0,
      pageviews: eventsAt.get(day)?.pageviews ?? 0,
      clicks: eventsAt.get(day)?.clicks ?? 0,
    };
  });
}

/**
 * Replaces an omitted bound with the app's first or last day with a session or an event. Null if no day is
 * left: no data, none from `from` on, or none up to the day of `to`.
 */
async function withinData(db: RawDatabase, app: AppId, { from, to }: OpenRange): Promise<Range | null> {
  if (from !== null && to !== null) return { from, to };
  const extent = await db.queryOne(EXTENT, { app });
  if (extent.hours === 0 || (from !== null && extent.newest < from)) return null;
  const first = from ?? utcDayStart(epochMs(extent.oldest));
  const last = to ?? epochMs(utcDayStart(epochMs(extent.newest)) + DAY_MS - 1);
  return first > last ? null : { from: first, to: last };
}
