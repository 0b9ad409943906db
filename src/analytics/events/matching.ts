import { int } from '../../clickhouse/literals.ts';
import { identifier, join, type Sql, sql } from '../../clickhouse/sql.ts';
import type { Range } from '../../domain/time.ts';
import type { AppFacts } from '../input/app-facts.ts';
import { ROW, type Row } from '../memory/rows.ts';
import { type Grid, sliceSql } from '../range/grid.ts';
import { matchingSessions } from '../segments/matching.ts';
import { countsOf, TYPES } from './totals.ts';
import { EVENT_SUM_NAMES } from './traffic.ts';

/*
 * The events of matching sessions, by slice. A session within one slice tells its numbers itself. The events of the others are
 * counted one by one, in their hours.
 */

const END = sql`started_at + duration_ms`;

/** SQL condition on a session: it lies within one slice. */
const isWithin = (grid: Grid): Sql =>
  sql`(started_at >= ${int(grid.from)} AND ${END} <= ${int(grid.to)} AND ${sliceSql(grid, sql`started_at`)} = ${sliceSql(grid, END)})`;

/** SQL of the numbers of the events of a session within one slice, 0 for others. */
export const eventsWithin = (grid: Grid): Sql[] =>
  EVENT_SUM_NAMES.map((name) => sql`if(${isWithin(grid)}, ${identifier(name)}, 0)`);

/** Returns the sums of the events of the other matching sessions, by slice. `asked`: see `Matching`. */
export async function crossingEvents(
  facts: AppFacts,
  grid: Grid,
  asked: readonly Range[],
): Promise<readonly Row[]> {
  const matching = await matchingSessions(facts);
  const crossing = matching.isEvent(grid, asked, sql`NOT ${isWithin(grid)}`);
  const statement = countsOf(grid, sql`${crossing} AND type IN (${join(TYPES)})`);
  const query = { name: 'segment, events', sql: statement, row: ROW };
  return facts.db.rows(query, { parallel: true, searches: true }, matching.params);
}
