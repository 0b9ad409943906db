import { z } from 'zod';
import { realtimeWindow } from '../../src/analytics/range/ranges.ts';
import type { NamedSessions, Realtime } from '../../src/answers/times.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import { DAY_MS, type EpochMs, epochMs, MINUTE_MS, toIso } from '../../src/domain/time.ts';
import { appRange, type RawDatabase } from './ask.ts';
import { pageviews } from './pageviews.ts';
import { sessionsSql } from './sessions-sql.ts';

const TOP = 10;
/** The first of the last five minutes. */
const ACTIVE_FROM = 25;

const ROW = z.object({
  session: z.string(),
  visitor: z.string(),
  channel: z.string(),
  country: z.string(),
  minutes: z.array(z.tuple([z.number(), z.number()])),
});

/** Reads the sessions with events of the last 30 minutes, and counts here. */
export async function realtime(db: RawDatabase, app: AppId, now: EpochMs): Promise<Realtime> {
  const range = realtimeWindow(now);
  const [sessions, pages] = await Promise.all([
    db.query(
      {
        name: 'realtime',
        sql: sql`SELECT concat(toString(e.started), ' ', toString(e.session)) AS session, s.visitor_id AS visitor,
    ['paid', 'email', 'social', 'search', 'campaign', 'referral', 'direct'][s.channel] AS channel, s.country AS country,
    groupArray((e.minute, e.views)) AS minutes
FROM
(
    SELECT started_at AS started, sipHash64(session_id) AS session, toUInt32(intDiv(toUnixTimestamp64Milli(timestamp) - {begin:Int64}, ${MINUTE_MS})) AS minute,
        countIf(type = 'pageview') AS views
    FROM events
    WHERE app_id = {app:UUID} AND timestamp >= fromUnixTimestamp64Milli({begin:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    GROUP BY ALL
) AS e
INNER JOIN (${sessionsSql()}) AS s ON s.started_at = e.started AND s.session = e.session
GROUP BY ALL`,
        row: ROW,
      },
      { ...appRange(app, { from: epochMs(range.from - DAY_MS), to: range.to }), begin: range.from },
    ),
    pageviews(db, app, range, TOP),
  ]);
  const views = (of: z.infer<typeof ROW>, minute?: number): number =>
    of.minutes.reduce((sum, [at, n]) => sum + (minute === undefined || at === minute ? n : 0), 0);
  const visitorsOf = (rows: readonly z.infer<typeof ROW>[]): number =>
    new Set(rows.map(({ visitor }) => visitor)).size;
  const top = (column: 'channel' | 'country'): NamedSessions[] => {
    const counts = new Map<string, number>();
    for (const row of sessions) {
      const name = row[column] === '' ? '(none)' : row[column];
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts]
      .map(([name, count]) => ({ name, sessions: count }))
      .sort((a, b) => b.sessions - a.sessions || (a.name < b.name ? -1 : 1))
      .slice(0, TOP);
  };
  return {
    from: toIso(range.from),
    to: toIso(range.to),
    visitors: visitorsOf(sessions),
    sessions: sessions.length,
    pageviews: sessions.reduce((sum, row) => sum + views(row), 0),
    activeVisitors: visitorsOf(sessions.filter(({ minutes }) => minutes.some(([at]) => at >= ACTIVE_FROM))),
    minutes: Array.from({ length: 30 }, (_, minute) => {
      const own = sessions.filter(({ minutes }) => minutes.some(([at]) => at === minute));
      return {
        start: toIso(epochMs(range.from + minute * MINUTE_MS)),
        visitors: visitorsOf(own),
        pageviews: own.reduce((sum, row) => sum + views(row, minute), 0),
      };
    }),
    pages,
    channels: top('channel'),
    countries: top('country'),
  };
}
