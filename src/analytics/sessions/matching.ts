import { join, sql } from '../../clickhouse/sql.ts';
import type { Range } from '../../domain/time.ts';
import type { AppFacts } from '../input/app-facts.ts';
import { ROW, type Row } from '../memory/rows.ts';
import { type Grid, sliceSql } from '../range/grid.ts';
import { matchingSessions, type SegmentColumn } from '../segments/matching.ts';
import type { Measure } from './measures.ts';

/**
 * Counts the matching sessions of the grid's range, as `countSessions` does: each row belongs to a slice, or to a key if the
 * sessions have keys. With `ever`, for a grid of one slice, new visitors are counted, too.
 */
export async function countMatching(
  facts: AppFacts,
  { name, columns, keys, values, visits }: Measure,
  grid: Grid,
  ever = false,
  asked: readonly Range[] = [grid],
): Promise<Row[]> {
  const matching = await matchingSessions(facts);
  const rows = matching.rows(grid, columns as readonly SegmentColumn[], asked);
  const row = keys === null ? sql`toString(${sliceSql(grid, sql`started_at`)})` : sql`arrayJoin(${keys})`;
  const visitors = visits === null ? [] : [sql`uniqExact(visitor)`, sql`0`];
  const sums = [sql`count()`, ...values.map((value) => sql`sum(${value})`), ...visitors];
  const read = (statement: typeof rows): Promise<Row[]> =>
    facts.db.rows(
      { name: `segment, ${name}`, sql: statement, row: ROW },
      { parallel: true },
      matching.params,
    );
  const [counted, newcomers] = await Promise.all([
    read(sql`SELECT ${row} AS name, ${join(sums)} FROM (${rows}) GROUP BY name`),
    ever
      ? read(sql`SELECT '0', ${join([...sums.slice(1).map(() => sql`0`), sql`count()`])}
FROM (${matching.newcomers(grid)}) WHERE visitor IN (SELECT visitor FROM (${rows}))`)
      : [],
  ]);
  return [...counted, ...newcomers];
}
