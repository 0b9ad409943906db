import type { Database, RunOptions } from '../../clickhouse/database.ts';
import { number, rowOf, text } from '../../clickhouse/row.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import type { Cache } from './memory.ts';

/** A part of an answer: a key, and sums that are added to those of other rows with the same key. */
export type Row = readonly [key: string, ...sums: number[]];
export const ROW = rowOf([text], number);

/** Reads rows, or returns those that the cache holds. */
export const keptRows = (
  db: Database,
  cache: Cache,
  name: string,
  statement: Sql,
  options: RunOptions = {},
): Promise<readonly Row[]> =>
  cache.recall(
    statement,
    () => db.rows({ name, sql: statement, row: ROW }, options),
    (rows) => rows.length * (rows[0]?.length ?? 0),
  );

/** Adds the rows of each key. */
export function sumByKey(rows: Iterable<Row>): Map<string, number[]> {
  const sums = new Map<string, number[]>();
  for (const [key, ...values] of rows) {
    const own = sums.get(key);
    if (own === undefined) sums.set(key, values);
    else for (const [i, value] of values.entries()) own[i] = (own[i] ?? 0) + value;
  }
  return sums;
}

/** The texts of a key that consists of several. They hold no control characters. */
const TEXTS = '\0';
export const textsOf = (key: string): string[] => key.split(TEXTS);
/** SQL of such a key. */
export const joined = (columns: readonly Sql[]): Sql => sql`arrayStringConcat([${join(columns)}], '\\0')`;
