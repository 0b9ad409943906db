import { z } from 'zod';
import type { Database, Query } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import {
  DAY_MS,
  type EpochMs,
  epochMs,
  type OpenRange,
  type Range,
  toIso,
  utcDayStart,
} from '../../domain/time.ts';
import type { Asker } from '../ask.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { plan } from '../plan.ts';
import { growthDays } from '../ranges.ts';
import type { GrowthPoint } from '../results.ts';
import { Bindings, rawRanges, UTC, unionAll } from '../sql.ts';
import { ALWAYS_CURRENT } from './event-totals.ts';

/** The first and last instant at which the app has a session or an event. */
const EXTENT: Query<{ hours: number; oldest: number; newest: number }> = {
  name: 'growth extent',
  sql: `SELECT count() AS hours, toUnixTimestamp64Milli(min(l.oldest)) AS oldest, toUnixTimestamp64Milli(max(l.newest)) AS newest
FROM ledger AS l
WHERE l.app_id = {app:UUID}`,
  row: z.object({ hours: z.number(), oldest: z.number(), newest: z.number() }),
};

const SESSIONS_ROW = z.object({ day: z.number(), sessions: z.number(), visitors: z.number() });
const EVENTS_ROW = z.object({ day: z.number(), pageviews: z.number(), clicks: z.number() });

export async function userGrowth(
  { db, watermarks }: Asker,
  app: AppId,
  range: OpenRange,
): Promise<GrowthPoint[]> {
  const bounded = await withinData(db, app, range);
  if (bounded === null) return [];
  const { first, last } = growthDays(bounded);
  const { session } = await watermarks(app);
  const [sessions, events] = await Promise.all([
    sessionsByDay(db, app, bounded, session),
    eventsByDay(db, app, bounded),
  ]);
  const sessionsOf = new Map(sessions.map((row) => [row.day, row]));
  const eventsOf = new Map(events.map((row) => [row.day, row]));
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const day = first + i;
    return {
      date: toIso(epochMs(day * DAY_MS)).slice(0, 10),
      sessions: sessionsOf.get(day)?.sessions ?? 0,
      visitors: sessionsOf.get(day)?.visitors ?? 0,
      pageviews: eventsOf.get(day)?.pageviews ?? 0,
      clicks: eventsOf.get(day)?.clicks ?? 0,
    };
  });
}

/**
 * An omitted bound is the app's first or last day with a session or an event. Null where that leaves no day: no data,
 * none from `from` on, or none up to the day of `to`.
 */
async function withinData(db: Database, app: AppId, { from, to }: OpenRange): Promise<Range | null> {
  if (from !== null && to !== null) return { from, to };
  const extent = await db.queryOne(EXTENT, { app });
  if (extent.hours === 0 || (from !== null && extent.newest < from)) return null;
  const first = from ?? utcDayStart(epochMs(extent.oldest));
  const last = to ?? epochMs(utcDayStart(epochMs(extent.newest)) + DAY_MS - 1);
  return first > last ? null : { from: first, to: last };
}

/** Whole sealed days are sums; a cut day is settled by its facts; the day of the watermark and later ones by raw rows. */
function sessionsByDay(db: Database, app: AppId, range: Range, watermark: EpochMs) {
  const bind = new Bindings({ app });
  const end = range.to + 1;
  const sealedEnd = Math.min(end, utcDayStart(watermark));
  const firstDay = Math.min(Math.ceil(range.from / DAY_MS) * DAY_MS, Math.max(sealedEnd, range.from));
  const lastDay = Math.max(Math.floor(sealedEnd / DAY_MS) * DAY_MS, firstDay);
  const cut = [
    { start: range.from, end: firstDay },
    { start: lastDay, end: sealedEnd },
  ].filter((span) => span.start < span.end);
  const tailFrom = epochMs(Math.max(range.from, sealedEnd));
  const rows = unionAll(
    [
      firstDay < lastDay
        ? `SELECT intDiv(toUnixTimestamp(bucket), 86400) AS day, s.sessions AS sessions, s.day_visitors AS visitors FROM session_sums AS s
WHERE app_id = {app:UUID} AND grain = 'day' AND ${bind.inSpans('bucket', [{ start: firstDay, end: lastDay }])}`
        : null,
      cut.length === 0
        ? null
        : `SELECT intDiv(started_at, 86400000) AS day, count() AS sessions,
    countIf(prev < greatest(intDiv(started_at, 86400000) * 86400000, ${bind.int(range.from)})) AS visitors
FROM session_facts WHERE app_id = {app:UUID} AND ${bind.inMs('started_at', cut)}
GROUP BY day`,
      tailFrom < end
        ? `SELECT intDiv(toUnixTimestamp64Milli(started_at), 86400000) AS day, count() AS sessions, uniqExact(visitor_id) AS visitors
FROM (${mergedSessions(bind, [{ from: tailFrom, to: range.to }], ['visitor_id'])})
GROUP BY day`
        : null,
    ],
    '',
  );
  const sql = `SELECT day, sum(r.sessions) AS sessions, sum(r.visitors) AS visitors FROM (${rows}) AS r GROUP BY day`;
  return db.query({ name: 'growth sessions', sql, row: SESSIONS_ROW }, bind.params, {
    parallel: tailFrom < end,
  });
}

function eventsByDay(db: Database, app: AppId, range: Range) {
  const bind = new Bindings({ app });
  const pieces = plan(range, ALWAYS_CURRENT, 'day');
  const raw = rawRanges(pieces);
  const rows = unionAll(
    [
      `SELECT intDiv(toUnixTimestamp(bucket), 86400) AS day, t.pageviews AS pageviews, t.clicks AS clicks FROM traffic AS t
WHERE app_id = {app:UUID} AND ${bind.inGrains([pieces], UTC)}`,
      raw.length === 0
        ? null
        : `SELECT intDiv(toUnixTimestamp64Milli(timestamp), 86400000) AS day, countIf(type = 'pageview'), countIf(type = 'click')
FROM events WHERE app_id = {app:UUID} AND type IN ('pageview', 'click') AND ${bind.inRanges('timestamp', raw)}
GROUP BY day`,
    ],
    '',
  );
  const sql = `SELECT day, sum(r.pageviews) AS pageviews, sum(r.clicks) AS clicks FROM (${rows}) AS r GROUP BY day`;
  return db.query({ name: 'growth events', sql, row: EVENTS_ROW }, bind.params);
}
