import { sql } from '../../clickhouse/sql.ts';
import type { Range } from '../../domain/time.ts';
import type { AppFacts, SessionFacts } from '../input/app-facts.ts';
import { keptRows, type Row, sumByKey } from '../memory/rows.ts';
import { byPeriod, type Grid } from '../range/grid.ts';
import { type Plan, plan } from '../range/plan.ts';
import { HALF_HOURS, hoursPeriodOf, inGrains, isEmpty } from '../range/sql.ts';
import { countSessions, edgesOf } from './count.ts';
import { countMatching } from './matching.ts';
import { type SessionTotals, sumsOfBucket, TOTALS, totalsOf } from './measures.ts';
import { returning } from './returns.ts';

/**
 * Returns the totals of each of `ranges`, which are adjacent, in order and of the same length. New
 * visitors are right only with `ever`.
 */
export async function sessionTotals(
  facts: AppFacts,
  ranges: readonly Range[],
  ever = false,
): Promise<SessionTotals[]> {
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (first === undefined || last === undefined) return [];
  const grid = byPeriod(first, last);
  const sums = sumByKey(
    await (facts.segment === null
      ? ofPlans(facts.sessions, ranges, grid, ever)
      : countMatching(facts, TOTALS, grid, ever, ranges)),
  );
  return ranges.map((_, i) => totalsOf(sums.get(`${i}`)));
}

async function ofPlans(
  facts: SessionFacts,
  ranges: readonly Range[],
  grid: Grid,
  ever: boolean,
): Promise<Row[]> {
  const plans = ranges.map((range) => plan(range, facts.until));
  const rows = await Promise.all([
    totalsOfHours(facts, plans),
    countSessions(facts, TOTALS, grid, edgesOf(plans), ever),
  ]);
  return rows.flat();
}

/** The totals of the plans' whole hours, with the index of the plan as the key. */
async function totalsOfHours(facts: SessionFacts, plans: readonly Plan[]): Promise<Row[]> {
  if (plans.every(({ sealed }) => isEmpty(sealed))) return [];
  const statement = sql`SELECT toString(${hoursPeriodOf(sql`toUnixTimestamp(bucket) * 1000`, plans)}) AS key, ${sumsOfBucket('sessions')}
FROM session_sums AS s WHERE ${facts.where} AND ${inGrains(plans, HALF_HOURS)} GROUP BY key`;
  const [sums, visitors] = await Promise.all([
    keptRows(facts.db, facts.cache, 'session sums', statement),
    returning(facts, TOTALS, plans),
  ]);
  return [...sums, ...visitors];
}
