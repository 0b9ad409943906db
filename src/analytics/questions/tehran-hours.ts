import { sql } from '../../clickhouse/sql.ts';
import { TEHRAN } from '../../domain/tehran-clock.ts';
import { type EpochMs, epochMs, HOUR_MS, isWithin, type Range, toIso } from '../../domain/time.ts';
import { UNITS } from '../answers/figures.ts';
import type { AudienceActivity, TrafficHeatmap } from '../answers/results.ts';
import { ratio } from '../answers/rounding.ts';
import { eventTotalsOf } from '../events/totals.ts';
import { firstUnsealed, SUMS_OF_TRAFFIC, sealedSums, unsealedHours } from '../events/traffic.ts';
import type { AppFacts, EventFacts, SessionFacts } from '../input/app-facts.ts';
import { keptRows, type Row, sumByKey } from '../memory/rows.ts';
import { byHour, type Grid, sliceOf, sliceSql } from '../range/grid.ts';
import { type Span, spanOf } from '../range/plan.ts';
import { inSpans, ofApp } from '../range/sql.ts';
import { activityWindow, heatmapWindow, type TehranTime, tehranHourOf, tehranTime } from '../range/tehran.ts';
import { edgesOf, singlesOf } from '../sessions/count.ts';
import { sumsOfBucket, TOTALS, totalsOf } from '../sessions/singles.ts';
import { sessionTotals } from '../sessions/totals.ts';

/** The counts of one Tehran hour. A visitor counts once in it. */
interface TehranHour {
  readonly start: EpochMs;
  readonly sessions: number;
  readonly visitors: number;
  readonly pageviews: number;
}

/** Returns the hours of `range` (whole Tehran hours) with data. */
async function tehranHours(facts: AppFacts, range: Range): Promise<TehranHour[]> {
  const grid = byHour(range);
  const session = facts.sessions;
  const hours = { start: range.from, end: Math.min(session.until, range.to + 1) };
  const [sealed, singles, views] = await Promise.all([
    hours.start < hours.end ? sealedHours(session, grid, hours) : [],
    singlesOf(session, TOTALS, grid, edgesOf(session, TOTALS, [])),
    pageviewsByHour(facts, grid),
  ]);
  const sums = sumByKey([...sealed, ...singles]);
  return [...new Set([...sums.keys(), ...views.keys()])].map((hour) => {
    const { sessions, visitors } = totalsOf(sums.get(hour));
    const start = epochMs(grid.origin + Number(hour) * HOUR_MS);
    return { start, sessions, visitors, pageviews: views.get(hour) ?? 0 };
  });
}

/** Sealed half hours. Each counts a visitor once in a Tehran hour. */
async function sealedHours(
  { db, where, cache }: SessionFacts,
  grid: Grid,
  hours: Span,
): Promise<readonly Row[]> {
  const statement = sql`SELECT toString(${sliceSql(grid, sql`toUnixTimestamp(bucket) * 1000`)}) AS hour, ${sumsOfBucket('tehran_visitors', ['sessions', 'visitors'])}
FROM session_sums AS s WHERE ${where} AND grain = 1 AND ${inSpans(sql`bucket`, [hours])} GROUP BY hour`;
  return keptRows(db, cache, 'tehran hours: sessions', statement);
}

async function pageviewsByHour({ events }: AppFacts, grid: Grid): Promise<Map<string, number>> {
  const { start, end } = spanOf(grid);
  const until = Math.min(Math.max(start, firstUnsealed(events, 'tehran')), end);
  const [sealed, unsealed] = await Promise.all([
    start < until ? sealedTraffic(events, grid, { start, end: until }) : [],
    unsealedHours(events, 'tehran', [{ start: until, end }]),
  ]);
  return new Map([
    ...sealed.map(([hour, ...sums]) => [hour, eventTotalsOf(sums).pageviews] as const),
    ...unsealed.map(({ at, sums }) => [`${sliceOf(grid, at)}`, eventTotalsOf(sums).pageviews] as const),
  ]);
}

const sealedTraffic = (facts: EventFacts, grid: Grid, hours: Span): Promise<readonly Row[]> =>
  sealedSums(facts, [hours], {
    name: 'tehran hours: events',
    statement: sql`SELECT toString(${sliceSql(grid, sql`toUnixTimestamp(bucket) * 1000`)}) AS hour, ${SUMS_OF_TRAFFIC} FROM traffic AS t
WHERE ${ofApp(facts.app)} AND grain = 3 AND ${inSpans(sql`bucket`, [hours])} GROUP BY hour`,
    keysOf: (at) => {
      const hour = tehranHourOf(at);
      return isWithin([hours], hour) ? [`${sliceOf(grid, hour)}`] : [];
    },
  });

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
async function countedOnce(facts: AppFacts, hours: readonly TehranHour[]): Promise<TehranHour[]> {
  const session = facts.sessions;
  const starts = new Map(hours.map((hour) => [hour.start, hour]));
  return Promise.all(
    hours.map(async (hour) => {
      const before = starts.get(epochMs(hour.start - HOUR_MS));
      if (before === undefined || tehranTime(before.start).hour !== tehranTime(hour.start).hour) return hour;
      const both = { from: before.start, to: epochMs(hour.start + HOUR_MS - 1) };
      const [{ visitors } = before] = await sessionTotals(session, [both]);
      return { ...hour, visitors: visitors - before.visitors };
    }),
  );
}

export async function trafficHeatmap(facts: AppFacts, now: EpochMs): Promise<TrafficHeatmap> {
  const { dates, range } = heatmapWindow(now);
  // Client clocks may be up to 5 min ahead. Their events of the next hour are shown when that hour has begun.
  const hours = (await tehranHours(facts, range)).filter(({ start }) => start <= now);
  const counted = await countedOnce(facts, hours);
  const days = sumByCell(counted, dates, ({ date }) => date).map(([date, counts]) => ({ date, ...counts }));
  return { timezone: TEHRAN, from: toIso(range.from), to: toIso(range.to), days };
}

/** How often each hour of a weekday occurs in 28 days without a clock change. */
const WEEKS = 4;

export async function audienceActivity(facts: AppFacts, now: EpochMs): Promise<AudienceActivity> {
  const range = activityWindow(now);
  const hours = await tehranHours(facts, range);
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
