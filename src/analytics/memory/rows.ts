import type { Database, Params, Query, RunOptions } from '../../clickhouse/database.ts';
import { number, rowOf, text } from '../../clickhouse/row.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import type { Cache } from './memory.ts';

/** A part of an answer: a key, and sums that are added to those of other rows with the same key. */
export type Row = readonly [key: string, ...sums: number[]];
export const ROW = rowOf([text], number);

/** Reads rows, or returns those that the cache holds. */
export const keptRows = (db: Database, cache: Cache, name: string, statement: Sql): Promise<readonly Row[]> =>
  cache.recall(
    statement,
    () => db.rows({ name, sql: statement, row: ROW }),
    (rows) => rows.length * (rows[0]?.length ?? 0),
  );

/** Thrown if rows are too large to be kept in memory. */
export class TooLarge extends Error {}

/** Bytes of text. */
const MOST_TEXT = 8 * 1024 ** 2;

/** Reads rows that may be too large for memory. Throws `TooLarge` if they are. */
export async function rowsForMemory<Row extends readonly unknown[]>(
  db: Database,
  query: Query<Row>,
  options: RunOptions = {},
  params: Params = {},
): Promise<Row[]> {
  const rows = await db.rowsUpTo(query, MOST_TEXT, options, params);
  if (rows === null) throw new TooLarge();
  return rows;
}

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
export const TEXTS = '\0';
export const textsOf = (key: string): string[] => key.split(TEXTS);
/** SQL of such a key. */
export const joined = (columns: readonly Sql[]): Sql => sql`arrayStringConcat([${join(columns)}], '\\0')`;
