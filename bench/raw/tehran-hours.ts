import { z } from 'zod';
import { ratio } from '../../src/analytics/answers/rounding.ts';
import { activityWindow, heatmapWindow, tehranTime } from '../../src/analytics/range/tehran.ts';
import type { AudienceActivity, TrafficHeatmap } from '../../src/answers/times.ts';
import type { Query } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { AppId } from '../../src/domain/ids.ts';
import { TEHRAN } from '../../src/domain/tehran-clock.ts';
import { type EpochMs, epochMs, type Range, toIso } from '../../src/domain/time.ts';
import { appRange, type RawDatabase } from './ask.ts';
import { sessionsSql } from './sessions-sql.ts';

/** The figures of one Tehran hour. A visitor counts once in it. */
interface TehranHour {
  readonly start: EpochMs;
  readonly sessions: number;
  readonly visitors: number;
  readonly pageviews: number;
}

const SESSIONS: Query<{ hour: number; sessions: number; visitors: number }> = {
  name: 'tehran hours: sessions',
  sql: sql`SELECT toUnixTimestamp(toStartOfHour(started_at, 'Asia/Tehran')) AS hour, count() AS sessions, uniqExact(cityHash64(visitor_id)) AS visitors
FROM (${sessionsSql()}) GROUP BY hour`,
  row: z.object({ hour: z.number(), sessions: z.number(), visitors: z.number() }),
};

const PAGEVIEWS: Query<{ hour: number; pageviews: number }> = {
  name: 'tehran hours: pageviews',
  sql: sql`SELECT toUnixTimestamp(t.bucket) AS hour, sum(t.pageviews) AS pageviews
FROM traffic AS t
WHERE t.app_id = {app:UUID} AND t.grain = 'tehran_hour'
    AND t.bucket >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND t.bucket <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY hour`,
  row: z.object({ hour: z.number(), pageviews: z.number() }),
};

/** Returns the hours of `range` (whole Tehran hours) with events or sessions. */
async function tehranHours(db: RawDatabase, app: AppId, range: Range): Promise<TehranHour[]> {
  const params = appRange(app, range);
  const [sessions, pageviews] = await Promise.all([db.query(SESSIONS, params), db.query(PAGEVIEWS, params)]);
  const hours = new Map<number, TehranHour>();
  for (const { hour, ...counts } of sessions) {
    hours.set(hour, { start: epochMs(hour * 1000), ...counts, pageviews: 0 });
  }
  for (const { hour, pageviews: count } of pageviews) {
    const known = hours.get(hour) ?? { start: epochMs(hour * 1000), sessions: 0, visitors: 0 };
    hours.set(hour, { ...known, pageviews: count });
  }
  return [...hours.values()];
}

const zeros = (): number[] => new Array<number>(24).fill(0);
const METRICS = ['sessions', 'visitors', 'pageviews'] as const;

/** Adds up two hours that share a cell, on the day on which daylight saving time ended. */
function addUp<Key extends string | number>(
  hours: readonly TehranHour[],
  keys: readonly Key[],
  keyOf: (at: EpochMs) => Key,
) {
  const cells = new Map(
    keys.map((key) => [key, { sessions: zeros(), visitors: zeros(), pageviews: zeros() }]),
  );
  for (const hour of hours) {
    const cell = cells.get(keyOf(hour.start));
    if (cell === undefined) continue;
    const at = tehranTime(hour.start).hour;
    for (const metric of METRICS) cell[metric][at] = (cell[metric][at] ?? 0) + hour[metric];
  }
  return [...cells.entries()];
}

export async function trafficHeatmap(db: RawDatabase, app: AppId, now: EpochMs): Promise<TrafficHeatmap> {
  const { dates, range } = heatmapWindow(now);
  // A sender's clock may be up to 5 min ahead. Its events of the next hour show once that hour has begun.
  const hours = (await tehranHours(db, app, range)).filter(({ start }) => start <= now);
  const days = addUp(hours, dates, (at) => tehranTime(at).date).map(([date, counts]) => ({
    date,
    ...counts,
  }));
  return { timezone: TEHRAN, from: toIso(range.from), to: toIso(range.to), days };
}

/** How often each hour of the week occurs in a window of 28 days without a change of the clocks. */
const WEEKS = 4;

export async function audienceActivity(db: RawDatabase, app: AppId, now: EpochMs): Promise<AudienceActivity> {
  const range = activityWindow(now);
  const hours = await tehranHours(db, app, range);
  const average = (counts: readonly number[]) => counts.map((count) => ratio(count, WEEKS, 2));
  const days = addUp(hours, [1, 2, 3, 4, 5, 6, 7], (at) => tehranTime(at).weekday).map(
    ([dayOfWeek, counts]) => ({
      dayOfWeek,
      sessions: average(counts.sessions),
      visitors: average(counts.visitors),
      pageviews: average(counts.pageviews),
    }),
  );
  return { timezone: TEHRAN, from: toIso(range.from), to: toIso(range.to), windowDays: 28, days };
}
