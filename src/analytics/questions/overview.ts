import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { type OpenRange, toIso } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { isWide, type Plan, plan } from '../plan.ts';
import type { ExtendedOverview, NamedShare, PathSessions } from '../results.ts';
import { averageMs, perSession, rate } from '../rounding.ts';
import { Bindings, isEmpty, rawRanges, unionAll } from '../sql.ts';
import { eventTotals } from './event-totals.ts';
import { keyRows } from './keys.ts';
import { sessionTotals } from './session-totals.ts';

/** Lists of sessions by value: the list's name in the answer, and the column of a merged session. */
const DIMENSIONS = {
  browsers: 'browser',
  operatingSystems: 'os',
  devices: 'device',
  screenSizes: 'screen',
  languages: 'language',
  channels: 'channel',
  referrers: 'referrer_host',
  countries: 'country',
  utmSources: 'utm_source',
  entryPages: 'entry_path',
  exitPages: 'exit_path',
} as const;
type Dimension = keyof typeof DIMENSIONS;

const LIST_ROW = z.object({
  list: z.enum(Object.keys(DIMENSIONS) as [Dimension, ...Dimension[]]),
  name: z.string(),
  sessions: z.number(),
});

/** The ten most frequent values of each dimension. */
function topValues(db: Database, app: AppId, pieces: Plan): Promise<z.infer<typeof LIST_ROW>[]> {
  const bind = new Bindings({ app });
  const raw = rawRanges(pieces);
  const rows = unionAll(
    [
      isEmpty(pieces.sealed)
        ? null
        : `SELECT dimension, value, d.sessions AS sessions FROM session_dimensions AS d
WHERE app_id = {app:UUID} AND ${bind.inGrains([pieces], 'hour')}`,
      raw.length === 0
        ? null
        : `SELECT toLowCardinality(pair.1) AS dimension, toLowCardinality(pair.2) AS value, count() AS sessions
FROM (${mergedSessions(bind, raw, Object.values(DIMENSIONS))})
ARRAY JOIN [${Object.entries(DIMENSIONS)
            .map(([list, column]) => `('${list}', ${column})`)
            .join(', ')}] AS pair
WHERE pair.2 != '' OR pair.1 NOT IN ('entryPages', 'exitPages')
GROUP BY dimension, value`,
    ],
    '',
  );
  const sql = `SELECT dimension AS list, if(value = '', '(none)', value) AS name, sum(r.sessions) AS sessions
FROM (${rows}) AS r
GROUP BY list, name
ORDER BY list, sessions DESC, name
LIMIT 10 BY list`;
  return db.query({ name: 'top values', sql, row: LIST_ROW }, bind.params, { parallel: isWide(pieces) });
}

const KEY_ROW = z.object({
  kind: z.enum(['page', 'click', 'error', 'custom']),
  name: z.string(),
  count: z.number(),
  sessions: z.number(),
  /** How many keys of the kind there are. */
  keys: z.number(),
});

/** The ten most frequent pages, errors, targets and custom events. */
function topKeys(db: Database, app: AppId, pieces: Plan): Promise<z.infer<typeof KEY_ROW>[]> {
  const bind = new Bindings({ app });
  const rows = keyRows(bind, pieces, ['page', 'error', 'click', 'custom']);
  const sql = `SELECT kind, name, count, sessions, keys FROM
(
    SELECT kind, if(key = '', '(none)', key) AS name, sum(r.events) AS count, sum(r.sessions) AS sessions,
        count() OVER (PARTITION BY kind) AS keys
    FROM (${rows}) AS r
    GROUP BY kind, name HAVING count > 0
)
ORDER BY kind, count DESC, name
LIMIT 10 BY kind`;
  return db.query({ name: 'top keys', sql, row: KEY_ROW }, bind.params, { parallel: isWide(pieces) });
}

export async function overview(
  { db, watermarks }: Asker,
  app: AppId,
  range: OpenRange,
): Promise<ExtendedOverview> {
  const bounds = closed(range);
  const { page, session } = await watermarks(app);
  const sessionPlan = plan(bounds, session);
  const [[totals], lists, [events], tops] = await Promise.all([
    sessionTotals(db, app, [sessionPlan], { newVisitors: true }),
    topValues(db, app, sessionPlan),
    eventTotals(db, app, [bounds]),
    topKeys(db, app, plan(bounds, page)),
  ]);
  if (totals === undefined || events === undefined) throw new Error('overview: no totals');
  const { sessions } = totals;
  const shares = (list: Dimension): NamedShare[] =>
    lists
      .filter((row) => row.list === list)
      .map((row) => ({ name: row.name, sessions: row.sessions, share: rate(row.sessions, sessions) }));
  const paths = (list: Dimension): PathSessions[] =>
    lists.filter((row) => row.list === list).map((row) => ({ path: row.name, sessions: row.sessions }));
  const top = (kind: z.infer<typeof KEY_ROW>['kind']) => tops.filter((row) => row.kind === kind);
  return {
    from: range.from === null ? null : toIso(range.from),
    to: range.to === null ? null : toIso(range.to),
    session: {
      sessions,
      visitors: totals.visitors,
      newVisitors: totals.newVisitors,
      returningVisitors: totals.visitors - totals.newVisitors,
      bounces: totals.bounces,
      bounceRate: rate(totals.bounces, sessions),
      averageDurationMs: averageMs(totals.durationMs, sessions),
    },
    page: {
      pageviews: events.pageviews,
      uniquePages: top('page')[0]?.keys ?? 0,
      pagesPerSession: perSession(totals.pageviews, sessions),
      averageTimeOnPageMs: averageMs(events.engagedMs, events.pageviews),
      topPages: top('page').map((row) => ({
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
