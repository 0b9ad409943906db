import { int } from '../../clickhouse/literals.ts';
import { listOf, number, rowOf, text } from '../../clickhouse/row.ts';
import { type Sql, sql } from '../../clickhouse/sql.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { uInt128s } from '../range/sql.ts';
import type { Visits } from './measures.ts';

/** SQL of a visitor (UInt128) as text. */
export const VISITOR = sql`base64Encode(reinterpretAsFixedString(visitor))`;

const STARTS = rowOf([text, text, listOf(number)]);
type Starts = readonly (readonly [key: string, starts: readonly number[]])[];
/** Up to this many visitors are found by the index. For more, the table is read on all cores. */
const FEW_VISITORS = 200;
/** Bytes of text, and sealed sessions of all visitors. */
const MOST_TEXT = 8 * 1024 ** 2;
const MOST_STARTS = 500_000;

class TooMany extends Error {}

/**
 * Returns the starts of the visitors' sealed sessions; null if they are too many. They are kept: they change with sealing
 * alone.
 */
export async function sealedStarts(
  { db, app, where, until, cache }: SessionFacts,
  name: string,
  { table, key }: Visits,
  visitors: readonly string[],
): Promise<ReadonlyMap<string, Starts> | null> {
  const read = async (names: readonly string[]): Promise<ReadonlyMap<string, Starts>> => {
    const isFew = names.length <= FEW_VISITORS;
    const own = sql`${where} AND started_at < ${int(until)} AND visitor IN (SELECT arrayJoin(${uInt128s(names)}))`;
    // Only this table is sorted by visitor. The others are sorted by the start.
    const byStart = sql`AND started_at IN (SELECT started_at FROM visitor_sessions WHERE ${own})`;
    const statement: Sql = sql`SELECT ${VISITOR}, ${key} AS key, groupArray(started_at) FROM ${table}
WHERE ${own} ${isFew ? byStart : sql``} GROUP BY visitor, key`;
    const query = { name: `visits, ${name}`, sql: statement, row: STARTS };
    const rows = await db.rowsUpTo(query, MOST_TEXT, { searches: isFew, parallel: !isFew });
    if (rows === null) throw new TooMany();
    const found = new Map<string, (readonly [string, readonly number[]])[]>(names.map((each) => [each, []]));
    for (const [visitor, of, starts] of rows) found.get(visitor)?.push([of, starts]);
    return found;
  };
  const sizeOf = (all: Starts): number => all.reduce((sum, [, starts]) => sum + 1 + starts.length, 0);
  try {
    const found = await cache.recallEach(`visits ${app} ${name}`, visitors, read, sizeOf);
    const count = visitors.reduce((sum, visitor) => sum + sizeOf(found.get(visitor) ?? []), 0);
    return count > MOST_STARTS ? null : found;
  } catch (error) {
    if (error instanceof TooMany) return null;
    throw error;
  }
}
