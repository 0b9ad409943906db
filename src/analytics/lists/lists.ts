import type { Query } from '../../clickhouse/database.ts';
import { listOf, number, rowOf, text, tupleOf } from '../../clickhouse/row.ts';
import { identifier, type Sql, sql } from '../../clickhouse/sql.ts';
import { planEvents } from '../input/plan-events.ts';
import { lateEventsOf } from '../late/late.ts';
import { ROW, type Row } from '../memory/rows.ts';
import { isWide, type Plan } from '../range/plan.ts';
import { int, unionAll } from '../range/sql.ts';
import { pendingRows } from './pending.ts';
import { edgeRows, nameOf, sealedRows } from './pieces.ts';
import { type KeyQuestion, summed } from './question.ts';

/**
 * Returns the first `limit` keys of a group of one kind that the answer lists. The store adds up and sorts them, and a long
 * list is never in memory as a whole.
 */
export async function keysIn(asked: KeyQuestion, limit: number): Promise<Iterable<Row>> {
  const having = sql`HAVING sum(r.${identifier(asked.listed)}) > 0`;
  return read(asked, (rows) => ({
    name: 'keys',
    sql: sql`${summed(asked, rows, having)} LIMIT ${int(limit)}`,
    row: ROW,
  }));
}

/**
 * Totals of a kind's keys: the number of keys, their events and engagement; and the most frequent keys,
 * sorted by count, then by name.
 */
export interface TopKeys {
  readonly keys: number;
  readonly events: number;
  readonly engagedMs: number;
  readonly top: readonly { readonly name: string; readonly count: number; readonly sessions: number }[];
}

const NO_KEYS: TopKeys = { keys: 0, events: 0, engagedMs: 0, top: [] };

/** The kind, its keys, events and engagement; negative count, pair and sessions of the first keys. */
const TOP_ROW = rowOf([text, number, number, number, listOf(tupleOf([number, text, number]))]);

/** Returns the totals and the `count` most frequent keys of each kind of the group. */
export async function topKeys(
  question: Pick<KeyQuestion, 'facts' | 'range' | 'group'>,
  count: number,
): Promise<(kind: string) => TopKeys> {
  const asked = { ...question, sums: ['events', 'sessions', 'engagedMs'], listed: 'events' } as const;
  const rows = await read(asked, (all) => ({
    name: 'top keys',
    sql: sql`SELECT splitByChar(' ', pair)[1] AS kind, countIf(sum0 > 0), sum(sum0), sum(sum2), groupArraySortedIf(${int(count)})((-sum0, pair, sum1), sum0 > 0)
FROM (${summed(asked, all)}) GROUP BY kind`,
    row: TOP_ROW,
  }));
  const found = new Map(
    [...rows].map(([kind, keys, events, engagedMs, top]): [string, TopKeys] => [
      kind,
      {
        keys,
        events,
        engagedMs,
        top: top.map(([minus, pair, sessions]) => ({ name: nameOf(pair), count: -minus, sessions })),
      },
    ]),
  );
  return (kind) => found.get(kind) ?? NO_KEYS;
}

/** Nothing, with the columns of all rows. */
const NO_ROWS = sql`SELECT '' AS kind, '' AS key, 0 AS events, 0 AS sessions, 0 AS engagedMs, 0 AS engagements WHERE false`;

/** Reads a list: `query` makes it from all rows of the question. Throws `TooManyLate`. */
async function read<Row extends readonly unknown[]>(
  { facts, group, range }: KeyQuestion,
  query: (rows: Sql) => Query<Row>,
): Promise<Iterable<Row>> {
  const pieces = planEvents(facts.events, [range], facts.until)[0] as Plan;
  const late = await lateEventsOf(facts, 'page', facts.lateStarts);
  const rows = unionAll(
    [
      sealedRows(facts, pieces, group),
      edgeRows(facts, pieces, group),
      pendingRows(facts, pieces, group, late),
    ],
    NO_ROWS,
  );
  return facts.db.list(query(rows), { parallel: isWide(pieces) }, late?.params);
}
