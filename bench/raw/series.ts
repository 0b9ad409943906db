import { z } from 'zod';
import type { KpiMetrics } from '../../src/answers/kpis.ts';
import type { Series } from '../../src/answers/times.ts';
import type { Query } from '../../src/clickhouse/database.ts';
import { quoted, type Sql, sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { SeriesQuestion } from '../../src/domain/interval.ts';
import type { Segment } from '../../src/domain/segment.ts';
import { epochMs, HOUR_MS, type OpenRange, toIso } from '../../src/domain/time.ts';
import { appRange, closed, type RawDatabase } from './ask.ts';
import { averageMs, perSession, rate } from './rounding.ts';
import { eventsIn } from './segment.ts';
import { sessionsSql } from './sessions-sql.ts';

const SESSIONS_ROW = z.object({
  hour: z.number(),
  sessions: z.number(),
  visitors: z.number(),
  bounces: z.number(),
  durationMs: z.number(),
  ofSessions: z.number(),
});
const EVENTS_ROW = z.object({
  hour: z.number(),
  pageviews: z.number(),
  clicks: z.number(),
  errors: z.number(),
});

const hourOf = (at: Sql, timezone: string): Sql =>
  sql`toUnixTimestamp(toStartOfHour(${at}, ${quoted(timezone)}))`;

const sessionsOf = (timezone: string, segment: Segment | null): Query<z.infer<typeof SESSIONS_ROW>> => ({
  name: 'series sessions',
  sql: sql`SELECT ${hourOf(sql`started_at`, timezone)} AS hour, count() AS sessions, uniqExact(cityHash64(visitor_id)) AS visitors,
    sum(bounced) AS bounces, sum(duration_ms) AS durationMs, sum(p.pageviews) AS ofSessions
FROM (${sessionsSql(segment)}) AS p GROUP BY hour`,
  row: SESSIONS_ROW,
});

const eventsOf = (timezone: string, segment: Segment | null): Query<z.infer<typeof EVENTS_ROW>> => ({
  name: 'series events',
  sql: sql`SELECT ${hourOf(sql`timestamp`, timezone)} AS hour, countIf(type = 'pageview') AS pageviews, countIf(type = 'click') AS clicks,
    countIf(type = 'error') AS errors
FROM events
WHERE app_id = {app:UUID}
    AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')${eventsIn(segment)}
GROUP BY hour`,
  row: EVENTS_ROW,
});

/** Hours alone, of a zone whose clock is not changed in the range. */
export async function series(
  db: RawDatabase,
  app: AppId,
  range: OpenRange,
  { interval, timezone }: SeriesQuestion,
  segment: Segment | null,
): Promise<Series> {
  const bounds = closed(range);
  const params = appRange(app, bounds);
  const [first, sessions, events] = await Promise.all([
    db.queryOne(
      {
        name: 'series start',
        sql: sql`SELECT ${hourOf(sql`fromUnixTimestamp64Milli({from:Int64}, 'UTC')`, timezone)} AS hour`,
        row: z.object({ hour: z.number() }),
      },
      { from: bounds.from },
    ),
    db.query(sessionsOf(timezone, segment), params),
    db.query(eventsOf(timezone, segment), params),
  ]);
  const [started, happened] = [sessions, events].map(
    (rows) => new Map(rows.map((row) => [row.hour * 1000, row])),
  ) as [Map<number, z.infer<typeof SESSIONS_ROW>>, Map<number, z.infer<typeof EVENTS_ROW>>];
  const points: ({ start: string } & KpiMetrics)[] = [];
  for (let at = first.hour * 1000; at <= bounds.to; at += HOUR_MS) {
    const own = started.get(at);
    const { pageviews = 0, clicks = 0, errors = 0 } = happened.get(at) ?? {};
    const { sessions: count = 0, visitors = 0, bounces = 0, durationMs = 0, ofSessions = 0 } = own ?? {};
    points.push({
      start: toIso(epochMs(at)),
      sessions: count,
      visitors,
      pageviews,
      clicks,
      errors,
      bounceRate: rate(bounces, count),
      averageSessionDurationMs: averageMs(durationMs, count),
      pagesPerSession: perSession(ofSessions, count),
    });
  }
  return { interval, timezone, points };
}
