import { identifier, join, quoted, type Sql, sql } from '../../clickhouse/sql.ts';
import type { Range } from '../../domain/time.ts';
import type { AppFacts } from '../input/app-facts.ts';
import type { KeyGroup, KeySum } from './pieces.ts';

/** A question about a group of keys. The key of its rows is a pair. */
export interface KeyQuestion {
  readonly facts: AppFacts;
  readonly range: Range;
  readonly group: KeyGroup;
  /** The sums of a row. The rows are sorted by the first, then by key. */
  readonly sums: readonly KeySum[];
  /** The answer lists keys of which this is not 0. */
  readonly listed: KeySum;
}

/** SQL that sums rows by pair, in order. Grouping by one column is fastest. */
export const summed = ({ group, sums }: KeyQuestion, rows: Sql, having = sql``): Sql => {
  const [kind, by] =
    group.kinds.length === 1
      ? [quoted(group.kinds[0] ?? ''), sql`name`]
      : [sql`toString(kind)`, sql`kind, name`];
  const own = sums.map((sum, i) => sql`sum(r.${identifier(sum)}) AS sum${i}`);
  return sql`SELECT concat(${kind}, ' ', toString(${group.name}) AS name) AS pair, ${join(own)}
FROM (${rows}) AS r GROUP BY ${by} ${having} ORDER BY sum0 DESC, pair`;
};
