import { inMs, int } from '../../clickhouse/literals.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import { DAY_MS, epochMs, type Span } from '../../domain/time.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { pendingSessions } from '../late/pending.ts';
import { keptRows, ROW, type Row } from '../memory/rows.ts';
import { type Grid, sinceSql, sliceSql } from '../range/grid.ts';
import { type Plan, spanOf } from '../range/plan.ts';
import { edgeRanges } from '../range/sql.ts';
import { countFew } from './few.ts';
import { columnsOf, keysOf, type Measure } from './measures.ts';

/*
 * Counts sessions that no bucket counts. Each row belongs to a slice (its number), or to a key if the sessions have keys: the
 * number of sessions, their values, and the visitors and new visitors of the slice.
 */

/** The edges of the plans. */
export const edgesOf = (plans: readonly Plan[]): Span[] => plans.flatMap(edgeRanges).map(spanOf);

/**
 * Counts the sealed sessions of these parts of the grid's range, and the pending ones of all of it. With `ever`, for a grid of
 * one slice, new visitors are right: all earlier sessions are looked up.
 */
export async function countSessions(
  facts: SessionFacts,
  measure: Measure,
  grid: Grid,
  parts: readonly Span[],
  ever = false,
): Promise<Row[]> {
  const rows = await Promise.all([
    countParts(facts, measure, grid, parts),
    countPending(facts, measure, grid, ever),
  ]);
  return rows.flat();
}

async function countPending(
  facts: SessionFacts,
  measure: Measure,
  grid: Grid,
  ever: boolean,
): Promise<Row[]> {
  if (grid.to < facts.until && facts.lateHours.length === 0) return [];
  return (await countFew(facts, measure, grid)) ?? countInStore(facts, measure, grid, ever);
}

/** Each session counts as a visitor if its prev lies before its slice or before the range. */
async function countParts(
  { db, where, cache }: SessionFacts,
  { name, table, keys, values, visits }: Measure,
  grid: Grid,
  parts: readonly Span[],
): Promise<readonly Row[]> {
  if (parts.length === 0) return [];
  const visitors =
    visits === null
      ? []
      : [sql`countIf(prev < ${sinceSql(grid, sliceSql(grid, sql`started_at`))})`, sql`countIf(prev = -1)`];
  // The engine groups by a number faster than by its text.
  const key = keys === null ? sliceSql(grid, sql`started_at`) : sql`arrayJoin(${keys})`;
  const statement = sql`SELECT ${join([sql`toString(${key})`, sql`count()`, ...values.map((value) => sql`sum(${value})`), ...visitors])}
FROM ${table} WHERE ${where} AND ${inMs(sql`started_at`, parts)} GROUP BY ${key}`;
  const isWide = parts.some(({ start, end }) => end - start > WIDE_MS);
  return keptRows(db, cache, `parts of hours, ${name}`, statement, { parallel: isWide });
}

/** Longer parts are read on all cores. */
const WIDE_MS = DAY_MS;

/**
 * Counts what pending sessions change: their own numbers, and the visitors of each slice whom sealed sessions do not count, or
 * should not count any more. For this, the sealed sessions of the same visitors are looked up.
 */
async function countInStore(
  facts: SessionFacts,
  measure: Measure,
  grid: Grid,
  ever: boolean,
): Promise<Row[]> {
  const { db, where, until } = facts;
  const { name, keys, values, visits } = measure;
  const pending = await pendingSessions(facts);
  const range = { from: ever ? epochMs(0) : grid.from, to: grid.to };
  const sessions = pending.rows(range, columnsOf(measure));
  if (sessions === null) return [];
  const numbers = [sql`1`, ...values];
  const sums = (of: (n: Sql) => Sql): Sql[] => numbers.map((_, i) => of(sql`n${i}`));
  const pendingRows = sql`SELECT toUnixTimestamp64Milli(started_at) AS at, ${visits === null ? sql`` : sql`visitor, `}arrayJoin(${keysOf(measure)}) AS key,
    ${join(numbers.map((number, i) => sql`sign * toInt64(${number}) AS n${i}`))} FROM (${sessions})`;
  // Sessions from before the range only tell who is new. They share the slice of its start.
  const row =
    keys === null ? sql`toString(${sliceSql(grid, sql`greatest(at, ${int(grid.from)})`)})` : sql`key`;
  const statement =
    visits === null
      ? sql`SELECT ${join([row, ...sums((n) => sql`sum(${n})`)])} FROM (${pendingRows}) GROUP BY 1`
      : sql`WITH at >= ${int(grid.from)} AS is_in
SELECT name, ${join(sums((n) => sql`sum(sum_${n})`))},
    toInt64(countIf(now > 0)) - toInt64(countIf(held > 0)),
    toInt64(countIf(now > 0 AND now_before = 0)) - toInt64(countIf(held > 0 AND held_before = 0))
FROM
(
    SELECT visitor, ${row} AS name, ${join(sums((n) => sql`sumIf(${n}, is_in) AS sum_${n}`))},
        sumIf(is_now, is_in) AS now, sumIf(is_held, is_in) AS held,
        sumIf(is_now, NOT is_in) AS now_before, sumIf(is_held, NOT is_in) AS held_before
    FROM
    (
        SELECT *, n0 AS is_now, toInt64(0) AS is_held FROM (${pendingRows})
        UNION ALL
        SELECT started_at AS at, visitor, ${visits.key} AS key, ${join(sums(() => sql`0`))}, 1, 1 FROM ${visits.table}
        WHERE ${where} AND started_at >= ${int(range.from)} AND started_at < ${int(Math.min(until, grid.to + 1))}
            AND visitor IN (SELECT visitor FROM (${pending.rows(range, ['visitor']) ?? sql``}))
    )
    GROUP BY visitor, name
)
GROUP BY name`;
  const query = { name: `pending, ${name}`, sql: statement, row: ROW };
  return db.rows(query, { parallel: true, searches: true }, pending.params);
}
