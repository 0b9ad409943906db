import { inSpans, ofApp } from '../../clickhouse/literals.ts';
import { sql } from '../../clickhouse/sql.ts';
import { type EpochMs, epochMs, HOUR_MS, type Range, type Span } from '../../domain/time.ts';
import { eventTotalsOf } from '../events/totals.ts';
import { firstUnsealed, SUMS_OF_TRAFFIC, sealedSums, unsealedHours } from '../events/traffic.ts';
import type { AppFacts, EventFacts, SessionFacts } from '../input/app-facts.ts';
import { keptRows, type Row, sumByKey } from '../memory/rows.ts';
import { byHour, type Grid, sliceOf, sliceSql } from '../range/grid.ts';
import { spanOf } from '../range/plan.ts';
import { type TehranTime, tehranTime } from '../range/tehran.ts';
import { countSessions } from '../sessions/count.ts';
import { sumsOfBucket, TOTALS, totalsOf } from '../sessions/measures.ts';
import { matchingSlices } from './matching-slices.ts';

/** The counts of one Tehran hour. A visitor counts once in it. */
export interface TehranHour {
  readonly start: EpochMs;
  readonly sessions: number;
  readonly visitors: number;
  readonly pageviews: number;
}

/** Returns the hours of `range` (whole Tehran hours) with data. */
export async function tehranHours(facts: AppFacts, range: Range): Promise<TehranHour[]> {
  const grid = byHour(range);
  const [sessions, views] = await (facts.segment === null
    ? Promise.all([sessionsByHour(facts.sessions, grid), pageviewsByHour(facts, grid)])
    : matchingHours(facts, grid));
  const sums = sumByKey(sessions);
  return [...new Set([...sums.keys(), ...views.keys()])].map((hour) => {
    const { sessions: started, visitors } = totalsOf(sums.get(hour));
    const start = epochMs(grid.origin + Number(hour) * HOUR_MS);
    return { start, sessions: started, visitors, pageviews: views.get(hour) ?? 0 };
  });
}

async function sessionsByHour(facts: SessionFacts, grid: Grid): Promise<Row[]> {
  const hours = { start: grid.from, end: Math.min(facts.until, grid.to + 1) };
  const [sealed, singles] = await Promise.all([
    hours.start < hours.end ? sealedHours(facts, grid, hours) : [],
    countSessions(facts, TOTALS, grid, []),
  ]);
  return [...sealed, ...singles];
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

async function matchingHours(facts: AppFacts, grid: Grid) {
  const { sessions, events } = await matchingSlices(facts, grid);
  const views = [...sumByKey(events)].map(([hour, own]) => [hour, eventTotalsOf(own).pageviews] as const);
  return [sessions, new Map(views)] as const;
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
  sealedSums(
    facts,
    [hours],
    'tehran hours: events',
    sql`SELECT toString(${sliceSql(grid, sql`toUnixTimestamp(bucket) * 1000`)}) AS hour, ${SUMS_OF_TRAFFIC} FROM traffic AS t
WHERE ${ofApp(facts.app)} AND grain = 3 AND ${inSpans(sql`bucket`, [hours])} GROUP BY hour`,
  );

const zeros = (): number[] => new Array<number>(24).fill(0);
const METRICS = ['sessions', 'visitors', 'pageviews'] as const;

/**
 * Sums the hours of each cell. On the day on which daylight saving time ended (until 2022), two hours share a
 * cell.
 */
export function sumByCell<Key extends string | number>(
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
