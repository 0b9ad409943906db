import type { SessionFacts } from './ask.ts';
import { hoursOf } from './hours.ts';
import { type Plan, planReturns, type ReturnsPlan, spanOf } from './plan.ts';
import { keptRows, type Row } from './rows.ts';
import { type Single, type Visits, visitorsRow } from './singles.ts';
import { anyOf, bucket, hoursPeriodOf, inMs, inSpans, int, isEmpty } from './sql.ts';

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
    from: string,
    n: string,
    at: string,
    place: 'days' | 'byPrev' | 'byStart',
    condition: (piece: ReturnsPlan) => string,
  ): string[] => {
    const conditions = pieces.filter((piece) => !isEmpty(piece[place])).map(condition);
    if (conditions.length === 0) return [];
    const key = keys === null ? `toString(${hoursPeriodOf(at, plans)})` : visits.key;
    return [
      `SELECT ${key} AS key, ${n} AS n FROM ${from} WHERE ${where} AND ${anyOf(conditions)} GROUP BY key`,
    ];
  };
  const parts = [
    ...part(visits.pairs, 'sum(sessions)', 'toUnixTimestamp(day) * 1000', 'days', ({ days }) => {
      return `${inSpans('day', [days])} AND prev_day >= ${bucket(days.start)}`;
    }),
    ...part(visits.returns, 'count()', 'prev', 'byPrev', ({ byPrev, hoursEnd }) => {
      return `${inMs('prev', [byPrev])} AND started_at < ${int(hoursEnd)}`;
    }),
    ...part(table, 'count()', 'started_at', 'byStart', ({ byStart, prevFrom }) => {
      return `${inMs('started_at', [byStart])} AND prev >= ${int(prevFrom)}`;
    }),
  ];
  const sql = parts.join('\nUNION ALL\n');
  return keptRows(db, cache, `returning, ${name}`, sql);
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
  const cuts = await hoursOf(
    db,
    {
      name: `returns of an edge, ${name}`,
      at: 'prev',
      key,
      others: ['started_at'],
      from: (hours) => `FROM ${returns} WHERE ${where} AND ${inMs('prev', hours)}`,
      memoryOf: () => cache,
    },
    edges,
  );
  return cuts.flatMap(({ part, hour }) => {
    const counts = hour.countByKey(part, (at) => {
      const startedAt = hour.rows[at + 2] as number;
      return startedAt >= part.sealed.start && startedAt < part.sealed.end;
    });
    return [...counts].map(([key, n]): Row => [keys === null ? `${part.index}` : key, n]);
  });
}
