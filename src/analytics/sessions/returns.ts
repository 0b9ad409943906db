import { anyOf, bucket, inMs, inSpans, int } from '../../clickhouse/literals.ts';
import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { keptRows, type Row } from '../memory/rows.ts';
import { type Plan, planReturns, type ReturnsPlan, spanOf } from '../range/plan.ts';
import { hoursPeriodOf, isEmpty } from '../range/sql.ts';
import { type Measure, type Visits, visitorsRow } from './measures.ts';

/**
 * Returns rows that subtract visitors: sums of whole hours count each session as a visitor, and each session
 * whose prev lies in the same range is one too many. The key of a row is the index of the plan, or the key of
 * the session if sessions have keys (for a single plan). Sessions of the right edge are counted with their
 * own prev.
 */
export async function returning(
  facts: SessionFacts,
  measure: Measure,
  plans: readonly Plan[],
): Promise<Row[]> {
  const { visits } = measure;
  const whole = plans.filter(({ sealed }) => !isEmpty(sealed));
  if (visits === null || whole.length === 0) return [];
  const [hours, edges] = await Promise.all([
    inHours(facts, measure, visits, plans),
    fromEdges(facts, measure, visits, plans),
  ]);
  return [...hours, ...edges].map(([key, sessions = 0]) => visitorsRow(measure, key, 0 - sessions));
}

/** Counts the sessions of whole hours whose prev lies in these hours. */
async function inHours(
  { db, where, cache }: SessionFacts,
  { name, keys, table }: Measure,
  visits: Visits,
  plans: readonly Plan[],
): Promise<readonly Row[]> {
  const pieces = plans.map(planReturns);
  const part = (
    from: Sql,
    n: Sql,
    at: Sql,
    place: 'days' | 'byPrev' | 'byStart',
    condition: (piece: ReturnsPlan) => Sql,
  ): Sql[] => {
    const conditions = pieces.filter((piece) => !isEmpty(piece[place])).map(condition);
    if (conditions.length === 0) return [];
    const key = keys === null ? sql`toString(${hoursPeriodOf(at, plans)})` : visits.key;
    return [
      sql`SELECT ${key} AS key, ${n} AS n FROM ${from} WHERE ${where} AND ${anyOf(conditions)} GROUP BY key`,
    ];
  };
  const parts = [
    ...part(visits.pairs, sql`sum(sessions)`, sql`toUnixTimestamp(day) * 1000`, 'days', ({ days }) => {
      return sql`${inSpans(sql`day`, [days])} AND prev_day >= ${bucket(days.start)}`;
    }),
    ...part(visits.returns, sql`count()`, sql`prev`, 'byPrev', ({ byPrev, hoursEnd }) => {
      return sql`${inMs(sql`prev`, [byPrev])} AND started_at < ${int(hoursEnd)}`;
    }),
    ...part(table, sql`count()`, sql`started_at`, 'byStart', ({ byStart, prevFrom }) => {
      return sql`${inMs(sql`started_at`, [byStart])} AND prev >= ${int(prevFrom)}`;
    }),
  ];
  return keptRows(db, cache, `returning, ${name}`, join(parts, sql`\nUNION ALL\n`));
}

/** Counts the sessions of whole hours whose prev lies in the left edge of their plan. */
async function fromEdges(
  { db, where, cache }: SessionFacts,
  { name, keys }: Measure,
  { returns, key }: Visits,
  plans: readonly Plan[],
): Promise<readonly Row[]> {
  const edges = plans.flatMap(({ left, sealed }, index) =>
    left === null || isEmpty(sealed) ? [] : { ...spanOf(left), sealed, index },
  );
  const parts = edges.map(
    ({ sealed, index, ...part }) =>
      sql`SELECT ${keys === null ? sql`toString(${index})` : key} AS name, count() FROM ${returns}
WHERE ${where} AND ${inMs(sql`prev`, [part])} AND ${inMs(sql`started_at`, [sealed])} GROUP BY name`,
  );
  if (parts.length === 0) return [];
  return keptRows(db, cache, `returns of a part, ${name}`, join(parts, sql`\nUNION ALL\n`));
}
