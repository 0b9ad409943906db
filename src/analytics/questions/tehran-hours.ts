import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { type EpochMs, epochMs, floorTo, HOUR_MS, type Range, toIso } from '../../domain/time.ts';
import type { Asker, SessionFacts } from '../ask.ts';
import { UNITS } from '../figures.ts';
import { startedIn } from '../late.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { type Span, spanOf } from '../plan.ts';
import type { AudienceActivity, TrafficHeatmap } from '../results.ts';
import { ratio } from '../rounding.ts';
import { inSpans, ofApp } from '../sql.ts';
import { activityWindow, heatmapWindow, TEHRAN, type TehranTime, tehranTime } from '../tehran.ts';

/** The counts of one Tehran hour. A visitor counts once in it. */
interface TehranHour {
  readonly start: EpochMs;
  readonly sessions: number;
  readonly visitors: number;
  readonly pageviews: number;
}

const SESSIONS_ROW = z.object({ hour: z.number(), sessions: z.number(), visitors: z.number() });

/**
 * Sealed Tehran hours are sums of two half hours. From the hour that contains the watermark on, raw rows are
 * counted.
 */
async function sessionsByHour(db: Database, facts: SessionFacts, range: Range) {
  const hours = Math.floor((Math.min(facts.until, range.to + 1) - range.from) / HOUR_MS);
  const sealedEnd = range.from + Math.max(hours, 0) * HOUR_MS;
  const query = {
    name: 'tehran hours: sessions',
    sql: `SELECT toUnixTimestamp(toStartOfHour(bucket, 'Asia/Tehran')) AS hour, sum(s.sessions) AS sessions, sum(s.tehran_visitors) AS visitors
FROM session_sums AS s
WHERE ${facts.where} AND grain = 1 AND ${inSpans('bucket', [{ start: range.from, end: sealedEnd }])}
GROUP BY hour`,
    row: SESSIONS_ROW,
  };
  const [sealed, tail, late] = await Promise.all([
    range.from < sealedEnd ? facts.recall(query, () => db.query(query)) : [],
    sealedEnd <= range.to
      ? db.query(
          {
            name: 'tehran hours: tail',
            sql: `SELECT toUnixTimestamp(toStartOfHour(started_at, 'Asia/Tehran')) AS hour, count() AS sessions, uniqExact(visitor) AS visitors
FROM (${mergedSessions(facts, { from: epochMs(sealedEnd), to: range.to }, ['visitor'])})
GROUP BY hour`,
            row: SESSIONS_ROW,
          },
          {},
          { parallel: true },
        )
      : [],
    lateHours(facts, { start: range.from, end: sealedEnd }),
  ]);
  return [...sealed, ...tail, ...late];
}

/** Corrections to the sealed hours of the span, which consists of whole Tehran hours. */
async function lateHours(facts: SessionFacts, span: Span): Promise<z.infer<typeof SESSIONS_ROW>[]> {
  const { sessions, links } = await facts.late();
  const startOf = (ms: number): number => span.start + floorTo(ms - span.start, HOUR_MS);
  return [
    ...startedIn(sessions, span).map(({ sign, startedAt }) => ({
      hour: startOf(startedAt) / 1000,
      sessions: sign,
      visitors: 0,
    })),
    ...startedIn(links, span)
      .filter(({ startedAt, prev }) => prev < startOf(startedAt))
      .map(({ sign, startedAt }) => ({ hour: startOf(startedAt) / 1000, sessions: 0, visitors: sign })),
  ];
}

const PAGEVIEWS_ROW = z.object({ hour: z.number(), pageviews: z.number() });

const pageviewsByHour = (db: Database, app: AppId, range: Range) =>
  db.query({
    name: 'tehran hours: pageviews',
    sql: `SELECT toUnixTimestamp(bucket) AS hour, t.pageviews AS pageviews FROM traffic AS t
WHERE ${ofApp(app)} AND grain = 3 AND ${inSpans('bucket', [spanOf(range)])}`,
    row: PAGEVIEWS_ROW,
  });

/** Returns the hours of `range` (whole Tehran hours) with data. */
async function tehranHours({ db, facts }: Asker, app: AppId, range: Range): Promise<TehranHour[]> {
  const session = await facts.sessions();
  const [sessions, pageviews] = await Promise.all([
    sessionsByHour(db, session, range),
    pageviewsByHour(db, app, range),
  ]);
  const hours = new Map<number, TehranHour>();
  for (const { hour, ...counts } of sessions) {
    const known = hours.get(hour) ?? { start: epochMs(hour * 1000), sessions: 0, visitors: 0, pageviews: 0 };
    hours.set(hour, {
      ...known,
      sessions: known.sessions + counts.sessions,
      visitors: known.visitors + counts.visitors,
    });
  }
  for (const { hour, pageviews: count } of pageviews) {
    const known = hours.get(hour) ?? { start: epochMs(hour * 1000), sessions: 0, visitors: 0, pageviews: 0 };
    hours.set(hour, { ...known, pageviews: known.pageviews + count });
  }
  return [...hours.values()];
}

const zeros = (): number[] => new Array<number>(24).fill(0);
const METRICS = ['sessions', 'visitors', 'pageviews'] as const;

/**
 * Sums the hours of each cell. On the day on which daylight saving time ended (until 2022), two hours share a
 * cell.
 */
function sumByCell<Key extends string | number>(
  hours: readonly TehranHour[],
  keys: readonly Key[],
  keyOf: (at: TehranTime) => Key,
) {
  const cells = new Map(
    keys.map((key) => [key, { sessions: zeros(), visitors: zeros(), pageviews: zeros() }]),
  );
  for (const hour of hours) {
    const at = tehranTime(hour.start);
    const cell = cells.get(keyOf(at));
    if (cell === undefined) continue;
    for (const metric of METRICS) cell[metric][at.hour] = (cell[metric][at.hour] ?? 0) + hour[metric];
  }
  return [...cells.entries()];
}

/**
 * If two hours share a cell, a visitor of both counts once: the second hour keeps only the visitors that the
 * first does not have.
 */
async function countedOnce({ db, facts }: Asker, hours: readonly TehranHour[]): Promise<TehranHour[]> {
  const session = await facts.sessions();
  const starts = new Map(hours.map((hour) => [hour.start, hour]));
  return Promise.all(
    hours.map(async (hour) => {
      const before = starts.get(epochMs(hour.start - HOUR_MS));
      if (before === undefined || tehranTime(before.start).hour !== tehranTime(hour.start).hour) return hour;
      const both = { from: before.start, to: epochMs(hour.start + HOUR_MS - 1) };
      const { visitors } = await db.queryOne({
        name: 'tehran hours: shared cell',
        sql: `SELECT uniqExact(visitor) AS visitors FROM (${mergedSessions(session, both, ['visitor'])})`,
        row: z.object({ visitors: z.number() }),
      });
      return { ...hour, visitors: visitors - before.visitors };
    }),
  );
}

export async function trafficHeatmap(asker: Asker, app: AppId): Promise<TrafficHeatmap> {
  const now = asker.clock();
  const { dates, range } = heatmapWindow(now);
  // Client clocks may be up to 5 min ahead. Their events of the next hour are shown when that hour has begun.
  const hours = (await tehranHours(asker, app, range)).filter(({ start }) => start <= now);
  const counted = await countedOnce(asker, hours);
  const days = sumByCell(counted, dates, ({ date }) => date).map(([date, counts]) => ({ date, ...counts }));
  return { timezone: TEHRAN, from: toIso(range.from), to: toIso(range.to), days };
}

/** How often each hour of a weekday occurs in 28 days without a clock change. */
const WEEKS = 4;

export async function audienceActivity(asker: Asker, app: AppId): Promise<AudienceActivity> {
  const range = activityWindow(asker.clock());
  const hours = await tehranHours(asker, app, range);
  const average = (counts: readonly number[]) =>
    counts.map((count) => ratio(count, WEEKS, UNITS.average.decimals));
  const days = sumByCell(hours, [1, 2, 3, 4, 5, 6, 7], ({ weekday }) => weekday).map(
    ([dayOfWeek, counts]) => ({
      dayOfWeek,
      sessions: average(counts.sessions),
      visitors: average(counts.visitors),
      pageviews: average(counts.pageviews),
    }),
  );
  return { timezone: TEHRAN, from: toIso(range.from), to: toIso(range.to), windowDays: 28, days };
}
