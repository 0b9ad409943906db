import { z } from 'zod';
import { lastPlaces, ratio } from '../../src/analytics/answers/rounding.ts';
import type { KpiComparison, KpiMetrics, KpiPeriod } from '../../src/answers/kpis.ts';
import type { Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { Segment } from '../../src/domain/segment.ts';
import { epochMs, type Range, toIso } from '../../src/domain/time.ts';
import { appRange, type RawDatabase } from './ask.ts';
import { averageMs, perSession, rate } from './rounding.ts';
import { eventsIn } from './segment.ts';
import { sessionsSql } from './sessions-sql.ts';

interface SessionTotals {
  readonly sessions: number;
  readonly visitors: number;
  readonly bounces: number;
  readonly durationMs: number;
  readonly pageviews: number;
}

interface EventTotals {
  readonly pageviews: number;
  readonly clicks: number;
  readonly errors: number;
}

const sessionsOf = (segment: Segment | null): Query<SessionTotals> => ({
  name: 'kpi sessions',
  sql: sql`SELECT count() AS sessions, uniqExact(cityHash64(visitor_id)) AS visitors, sum(bounced) AS bounces, sum(duration_ms) AS durationMs,
    sum(p.pageviews) AS pageviews
FROM (${sessionsSql(segment)}) AS p`,
  row: z.object({
    sessions: z.number(),
    visitors: z.number(),
    bounces: z.number(),
    durationMs: z.number(),
    pageviews: z.number(),
  }),
});

const eventsOf = (segment: Segment | null): Query<EventTotals> => ({
  name: 'kpi events',
  sql: sql`SELECT countIf(type = 'pageview') AS pageviews, countIf(type = 'click') AS clicks, countIf(type = 'error') AS errors
FROM events
WHERE app_id = {app:UUID}
    AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')${eventsIn(segment)}`,
  row: z.object({ pageviews: z.number(), clicks: z.number(), errors: z.number() }),
});

/** The decimals of each metric, and so the list of metrics. */
const DECIMALS: { readonly [Metric in keyof KpiMetrics]: number } = {
  sessions: 0,
  visitors: 0,
  pageviews: 0,
  clicks: 0,
  errors: 0,
  bounceRate: 4,
  averageSessionDurationMs: 0,
  pagesPerSession: 2,
};

export async function kpis(
  db: RawDatabase,
  app: AppId,
  current: Range,
  segment: Segment | null,
): Promise<KpiComparison> {
  const length = current.to - current.from + 1;
  const previous = { from: epochMs(current.from - length), to: epochMs(current.from - 1) };
  const [now, before] = await Promise.all([
    period(db, app, current, segment),
    period(db, app, previous, segment),
  ]);
  return { current: now, previous: before, ...compare(now, before) };
}

async function period(
  db: RawDatabase,
  app: AppId,
  range: Range,
  segment: Segment | null,
): Promise<KpiPeriod> {
  const params = appRange(app, range);
  const [sessions, events] = await Promise.all([
    db.queryOne(sessionsOf(segment), params),
    db.queryOne(eventsOf(segment), params),
  ]);
  return {
    from: toIso(range.from),
    to: toIso(range.to),
    sessions: sessions.sessions,
    visitors: sessions.visitors,
    ...events,
    bounceRate: rate(sessions.bounces, sessions.sessions),
    averageSessionDurationMs: averageMs(sessions.durationMs, sessions.sessions),
    pagesPerSession: perSession(sessions.pageviews, sessions.sessions),
  };
}

/**
 * Differences and percentages of the rounded figures, computed in units of the last decimal, so that no float
 * misrounds.
 */
function compare(now: KpiMetrics, before: KpiMetrics): Pick<KpiComparison, 'change' | 'changePercent'> {
  const change: Record<string, number> = {};
  const changePercent: Record<string, number | null> = {};
  for (const [metric, decimals] of Object.entries(DECIMALS) as [keyof KpiMetrics, number][]) {
    const previous = lastPlaces(before[metric], decimals);
    const difference = lastPlaces(now[metric], decimals) - previous;
    change[metric] = difference / 10 ** decimals;
    changePercent[metric] = previous === 0 ? null : ratio(difference * 100, previous, 2);
  }
  return { change: change as never, changePercent: changePercent as never };
}
