import { z } from 'zod';
import type { ExtendedOverview, NamedShare, PathSessions } from '../../src/answers/overview.ts';
import type { Query } from '../../src/clickhouse/database.ts';
import { identifier, join, quoted, sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { Segment } from '../../src/domain/segment.ts';
import { type OpenRange, toIso } from '../../src/domain/time.ts';
import { appRange, closed, type RawDatabase } from './ask.ts';
import { averageMs, perSession, rate } from './rounding.ts';
import { eventsIn } from './segment.ts';
import { SESSION_HASH, sessionsSql } from './sessions-sql.ts';

const TOTALS_ROW = z.object({
  sessions: z.number(),
  visitors: z.number(),
  bounces: z.number(),
  durationMs: z.number(),
  pageviews: z.number(),
  clicks: z.number(),
  withErrors: z.number(),
});

const totalsOf = (segment: Segment | null): Query<z.infer<typeof TOTALS_ROW>> => ({
  name: 'overview totals',
  sql: sql`SELECT count() AS sessions, uniqExact(cityHash64(visitor_id)) AS visitors,
    sum(bounced) AS bounces, sum(duration_ms) AS durationMs, sum(p.pageviews) AS pageviews, sum(p.clicks) AS clicks,
    countIf(p.errors > 0) AS withErrors
FROM (${sessionsSql(segment)}) AS p`,
  row: TOTALS_ROW,
});

/** Visitors whose first session ever, of those up to the end of the range, started in the range. */
const newVisitorsOf = (segment: Segment | null): Query<{ newVisitors: number }> => ({
  name: 'overview new visitors',
  sql: sql`SELECT count() AS newVisitors
FROM
(
    SELECT cityHash64(b.visitor.2) AS visitor, min(b.started_at) AS first
    FROM all_sessions AS b FINAL
    WHERE b.app_id = {app:UUID} AND b.started_at <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    GROUP BY visitor
    HAVING first >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
)${segment === null ? sql`` : sql` WHERE visitor IN (SELECT cityHash64(visitor_id) FROM (${sessionsSql(segment)}))`}`,
  row: z.object({ newVisitors: z.number() }),
});

/** Lists of sessions by value: the list's name in the answer, and the column. */
const DIMENSIONS = {
  browsers: sql`browser`,
  operatingSystems: sql`os`,
  devices: sql`device`,
  screenSizes: sql`screen`,
  languages: sql`language`,
  channels: sql`['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'][channel]`,
  referrers: sql`referrer_host`,
  countries: sql`country`,
  utmSources: sql`utm_source`,
  entryPages: sql`entry_path`,
  exitPages: sql`exit_path`,
} as const;
type Dimension = keyof typeof DIMENSIONS;
const NAMES = Object.keys(DIMENSIONS).map(identifier);
const COLUMNS = Object.entries(DIMENSIONS).map(
  ([list, column]) => sql`toString(${column}) AS ${identifier(list)}`,
);

/** A row has the value of its list alone; the other ones are empty. */
const listsOf = (segment: Segment | null): Query<{ list: Dimension; name: string; sessions: number }> => ({
  name: 'overview lists',
  sql: sql`SELECT [${join(Object.keys(DIMENSIONS).map(quoted))}][arrayFirstIndex(absent -> absent = 0, [${join(NAMES.map((list) => sql`grouping(${list})`))}])] AS list,
    concat(${join(NAMES)}) AS value, if(value = '', '(none)', value) AS name, count() AS sessions
FROM (SELECT ${join(COLUMNS)} FROM (${sessionsSql(segment)}))
GROUP BY GROUPING SETS (${join(NAMES.map((list) => sql`(${list})`))})
HAVING value != '' OR list NOT IN ('entryPages', 'exitPages')
ORDER BY list, sessions DESC, name
LIMIT 10 BY list`,
  row: z.object({
    list: z.enum(Object.keys(DIMENSIONS) as [Dimension, ...Dimension[]]),
    name: z.string(),
    sessions: z.number(),
  }),
});

const EVENTS_ROW = z.object({
  pageviews: z.number(),
  clicks: z.number(),
  errors: z.number(),
  customs: z.number(),
  engagedMs: z.number(),
  uniquePages: z.number(),
});

const IN_RANGE = sql`app_id = {app:UUID}
    AND timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;

const eventsOf = (segment: Segment | null): Query<z.infer<typeof EVENTS_ROW>> => ({
  name: 'overview events',
  sql: sql`SELECT countIf(type = 'pageview') AS pageviews, countIf(type = 'click') AS clicks, countIf(type = 'error') AS errors,
    countIf(type = 'custom') AS customs, sum(duration_ms) AS engagedMs, uniqExactIf(path, type = 'pageview') AS uniquePages
FROM events WHERE ${IN_RANGE}${eventsIn(segment)}`,
  row: EVENTS_ROW,
});

const TOPS_ROW = z.object({
  type: z.enum(['pageview', 'click', 'error', 'custom']),
  name: z.string(),
  count: z.number(),
  sessions: z.number(),
});

const topsOf = (segment: Segment | null): Query<z.infer<typeof TOPS_ROW>> => ({
  name: 'overview tops',
  sql: sql`SELECT type, if(type = 'pageview', path, if(label = '', '(none)', label)) AS name, count() AS count,
    uniqExactIf(${SESSION_HASH}, type IN ('pageview', 'error')) AS sessions
FROM events WHERE ${IN_RANGE}${eventsIn(segment)} AND type != 'engagement'
GROUP BY type, name
ORDER BY type, count DESC, name
LIMIT 10 BY type`,
  row: TOPS_ROW,
});

export async function overview(
  db: RawDatabase,
  app: AppId,
  range: OpenRange,
  segment: Segment | null,
): Promise<ExtendedOverview> {
  const params = appRange(app, closed(range));
  const [totals, { newVisitors }, lists, events, tops] = await Promise.all([
    db.queryOne(totalsOf(segment), params),
    db.queryOne(newVisitorsOf(segment), params),
    db.query(listsOf(segment), params),
    db.queryOne(eventsOf(segment), params),
    db.query(topsOf(segment), params),
  ]);
  const { sessions } = totals;
  const shares = (list: Dimension): NamedShare[] =>
    lists
      .filter((row) => row.list === list)
      .map((row) => ({ name: row.name, sessions: row.sessions, share: rate(row.sessions, sessions) }));
  const paths = (list: Dimension): PathSessions[] =>
    lists.filter((row) => row.list === list).map((row) => ({ path: row.name, sessions: row.sessions }));
  const top = (type: z.infer<typeof TOPS_ROW>['type']) => tops.filter((row) => row.type === type);
  return {
    from: range.from === null ? null : toIso(range.from),
    to: range.to === null ? null : toIso(range.to),
    session: {
      sessions,
      visitors: totals.visitors,
      newVisitors,
      returningVisitors: totals.visitors - newVisitors,
      bounces: totals.bounces,
      bounceRate: rate(totals.bounces, sessions),
      averageDurationMs: averageMs(totals.durationMs, sessions),
    },
    page: {
      pageviews: events.pageviews,
      uniquePages: events.uniquePages,
      pagesPerSession: perSession(totals.pageviews, sessions),
      averageTimeOnPageMs: averageMs(events.engagedMs, events.pageviews),
      topPages: top('pageview').map((row) => ({
        path: row.name,
        views: row.count,
        uniqueSessions: row.sessions,
      })),
      entryPages: paths('entryPages'),
      exitPages: paths('exitPages'),
    },
    interaction: {
      clicks: events.clicks,
      clicksPerSession: perSession(totals.clicks, sessions),
      customEvents: events.customs,
      engagedMs: events.engagedMs,
      topTargets: top('click').map((row) => ({ target: row.name, clicks: row.count })),
      topCustomEvents: top('custom').map((row) => ({ name: row.name, count: row.count })),
    },
    technology: {
      browsers: shares('browsers'),
      operatingSystems: shares('operatingSystems'),
      devices: shares('devices'),
      screenSizes: shares('screenSizes'),
      languages: shares('languages'),
    },
    error: {
      errors: events.errors,
      sessionsWithErrors: totals.withErrors,
      errorRate: rate(totals.withErrors, sessions),
      topErrors: top('error').map((row) => ({ message: row.name, count: row.count, sessions: row.sessions })),
    },
    traffic: {
      channels: shares('channels'),
      referrers: shares('referrers'),
      countries: shares('countries'),
      utmSources: shares('utmSources'),
    },
  };
}
