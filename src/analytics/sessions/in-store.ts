import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import { epochMs, type Range } from '../../domain/time.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { ROW, type Row } from '../memory/rows.ts';
import { type Grid, sinceSql, sliceSql } from '../range/grid.ts';
import type { Span } from '../range/plan.ts';
import { inMs, int } from '../range/sql.ts';
import { mergedSessions } from './merged.ts';
import { keysOf, mergedFor, type Single } from './singles.ts';

/* Sums of sessions that the store counts. */

/** Counts the sealed sessions of these spans in the store. */
export async function countParts(
  { db, where }: SessionFacts,
  single: Single,
  grid: Grid,
  parts: readonly Span[],
): Promise<Row[]> {
  if (parts.length === 0) return [];
  const prev = single.visits === null ? [] : [sql`prev`];
  const keys = single.keys === null ? [] : [sql`arrayJoin(${single.keys}) AS key`];
  const rows = sql`SELECT ${join([sql`started_at AS at`, ...keys, ...prev, ...named(single)])}
    FROM ${single.table} WHERE ${where} AND ${inMs(sql`started_at`, parts)}`;
  return db.rows({ name: `parts of hours, ${single.name}`, sql: sumsOf(single, grid, rows), row: ROW });
}

/** Counts the unsealed sessions of the grid's range in the store. */
export async function countTail(facts: SessionFacts, single: Single, grid: Grid): Promise<Row[]> {
  const tail = { from: epochMs(Math.max(grid.from, facts.until)), to: grid.to };
  if (tail.from > tail.to) return [];
  const sums = sumsOf(single, grid, tailRows(facts, single, tail));
  return facts.db.rows({ name: `tail, ${single.name}`, sql: sums, row: ROW }, { parallel: true });
}

/** SQL of the sums of sessions by slice or by key, over rows (at, key, value0 …), with prev if visitors are counted. */
function sumsOf({ keys, values, visits }: Single, grid: Grid, rows: Sql): Sql {
  const slice = sliceSql(grid, sql`at`);
  const key = keys === null ? sql`toString(${slice})` : sql`key`;
  const sums = values.map((_, i) => sql`sum(value${i})`);
  const visitors =
    visits === null ? [] : [sql`countIf(prev < ${sinceSql(grid, slice)})`, sql`countIf(prev = -1)`];
  return sql`SELECT ${join([sql`${key} AS name`, sql`count()`, ...sums, ...visitors])}
FROM (${rows}) GROUP BY name`;
}

/** SQL of the values as value0 … */
const named = ({ values }: Single): Sql[] => values.map((value, i) => sql`${value} AS value${i}`);

/** SQL of the tail's sessions, one row (at, key, value0 …) for each key; with prev if visitors are counted. */
function tailRows(facts: SessionFacts, single: Single, tail: Range): Sql {
  const { where, until } = facts;
  const { visits, values } = single;
  const rowsOf = (range: Range, visitor: Sql) =>
    sql`SELECT toUnixTimestamp64Milli(started_at) AS at, session, ${visitor}${join([sql`arrayJoin(${keysOf(single)}) AS key`, ...named(single)])}
    FROM (${mergedSessions(facts, range, mergedFor([single]))})`;
  if (visits === null) return rowsOf(tail, sql``);
  // Earlier sessions of the tail are the prev of later ones.
  const all = { from: until, to: tail.to };
  return sql`SELECT * FROM
(
    SELECT *, lagInFrame(at, 1, toInt64(-1)) OVER (PARTITION BY visitor, key ORDER BY at, session
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS prev
    FROM
    (
        ${rowsOf(all, sql`visitor, `)}
        UNION ALL
        SELECT max(started_at), 0, visitor, ${join([sql`${visits.key} AS key`, ...values.map(() => sql`0`)])} FROM ${visits.table}
        WHERE ${where} AND started_at < ${int(until)} AND visitor IN (SELECT visitor FROM (${mergedSessions(facts, all, ['visitor'])}))
        GROUP BY visitor, key
    )
)
WHERE at >= ${int(tail.from)}`;
}
