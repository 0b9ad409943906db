import { join, type Sql, sql } from '../../clickhouse/sql.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { AFTER_EVENTS, byTurn, type HourSource, hoursOf } from '../memory/hours.ts';
import { keptRows, ROW, type Row } from '../memory/rows.ts';
import { type Plan, planReturns, type ReturnsPlan, spanOf } from '../range/plan.ts';
import { anyOf, bucket, hoursPeriodOf, inMs, inSpans, int, isEmpty } from '../range/sql.ts';
import { type Single, type Visits, visitorsRow } from './singles.ts';

/**
 * Returns rows that subtract visitors: sums of whole hours count each session as a visitor, and each session
 * whose prev lies in the same range is one too many. The key of a row is the index of the plan, or the key of
 * the session if sessions have keys (for a single plan). Sessions of the right edge are counted with their
 * own prev.
 */
export async function returning(facts: SessionFacts, single: Single, plans: readonly Plan[]): Promise<Row[]> {
  const { visits } = single;
  const whole = plans.filter(({ sealed }) => !isEmpty(sealed));
  if (visits === null || whole.length === 0) return [];
  const [hours, edges] = await Promise.all([
    inHours(facts, single, visits, plans),
    fromEdges(facts, single, visits, plans),
  ]);
  return [...hours, ...edges].map(([key, sessions = 0]) => visitorsRow(single, key, 0 - sessions));
}

/** Counts the sessions of whole hours whose prev lies in these hours. */
async function inHours(
  { db, where, cache }: SessionFacts,
  { name, keys, table }: Single,
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
  { name, keys }: Single,
  { returns, key }: Visits,
  plans: readonly Plan[],
): Promise<Row[]> {
  const edges = plans.flatMap(({ left, sealed }, index) =>
    left === null || isEmpty(sealed) ? [] : { ...spanOf(left), sealed, index },
  );
  const source: HourSource = {
    name: `returns of an edge, ${name}`,
    at: sql`prev`,
    key,
    others: [sql`started_at`],
    from: (hours) => sql`FROM ${returns} WHERE ${where} AND ${inMs(sql`prev`, hours)}`,
    countedTimes: AFTER_EVENTS,
    memoryOf: () => cache,
  };
  const { inMemory, inStore } = byTurn(source, edges);
  const parts = inStore.map(
    ({ sealed, index, ...part }) =>
      sql`SELECT ${keys === null ? sql`toString(${index})` : key} AS name, count() FROM ${returns}
WHERE ${where} AND ${inMs(sql`prev`, [part])} AND ${inMs(sql`started_at`, [sealed])} GROUP BY name`,
  );
  const [cuts, counted] = await Promise.all([
    hoursOf(db, source, inMemory),
    parts.length === 0
      ? []
      : db.rows({ name: `returns of a part, ${name}`, sql: join(parts, sql`\nUNION ALL\n`), row: ROW }),
  ]);
  const known = cuts.flatMap(({ part, hour }) => {
    const [starts] = hour.others;
    const counts = hour.countByKey(part, (row) => {
      const startedAt = starts?.[row] as number;
      return startedAt >= part.sealed.start && startedAt < part.sealed.end;
    });
    return [...counts].map(([key, n]): Row => [keys === null ? `${part.index}` : key, n]);
  });
  return [...known, ...counted];
}
