import { inSpans } from '../../clickhouse/literals.ts';
import { sql } from '../../clickhouse/sql.ts';
import { type EpochMs, epochMs, HOUR_MS, type Range, type Span } from '../../domain/time.ts';
import { eventTotalsOf } from '../events/totals.ts';
import { HALF_HOURS } from '../events/traffic.ts';
import type { AppFacts, SessionFacts } from '../input/app-facts.ts';
import { keptRows, type Row } from '../memory/rows.ts';
import { byStarts, type Grid, sliceSql } from '../range/grid.ts';
import { isEmpty } from '../range/sql.ts';
import { type TehranTime, tehranTime } from '../range/tehran.ts';
import { countSessions } from '../sessions/count.ts';
import { sumsOfBucket, TOTALS, totalsOf } from '../sessions/measures.ts';
import { countEach, sumsBySlice } from './slices.ts';

/** The counts of one Tehran hour. A visitor counts once in it. */
export interface TehranHour {
  readonly start: EpochMs;
  readonly sessions: number;
  readonly visitors: number;
  readonly pageviews: number;
}

/** Returns the hours of `range` (whole Tehran hours) with data. */
export async function tehranHours(facts: AppFacts, range: Range): Promise<TehranHour[]> {
  const starts: number[] = [];
  for (let start: number = range.from; start <= range.to; start += HOUR_MS) starts.push(start);
  const grid = byStarts(range, starts);
  const { started, happened } = await sumsBySlice(facts, grid, countByHour);
  return [...new Set([...started.keys(), ...happened.keys()])].map((start) => {
    const { sessions: count, visitors } = totalsOf(started.get(start));
    const { pageviews } = eventTotalsOf(happened.get(start));
    return { start: epochMs(Number(start)), sessions: count, visitors, pageviews };
  });
}

async function countByHour(facts: SessionFacts, grid: Grid): Promise<Row[]> {
  const hours = { start: grid.from, end: Math.min(facts.until, grid.to + 1) };
  // The visitors in the sums of the first half hour of 1970 are wrong, because its hour began before 1970.
  if (isEmpty(hours) || hours.start < HALF_HOURS.from) return countEach(facts, grid);
  const [sealed, singles] = await Promise.all([
    sealedHours(facts, grid, hours),
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
