import { sql } from '../../clickhouse/sql.ts';
import type { Range } from '../../domain/time.ts';
import { DIMENSIONS, type Dimension } from '../answers/dimensions.ts';
import { bySessions, firstOf } from '../answers/order.ts';
import type { AppFacts, SessionFacts } from '../input/app-facts.ts';
import { keptRows, type Row, sumByKey } from '../memory/rows.ts';
import { asOne } from '../range/grid.ts';
import { isWide, type Plan, plan } from '../range/plan.ts';
import { inGrains, isEmpty } from '../range/sql.ts';
import { countSessions, edgesOf } from './count.ts';
import { countMatching } from './matching.ts';
import { LISTS } from './measures.ts';

export interface Listed {
  readonly name: string;
  readonly sessions: number;
}

/** Returns the `count` most frequent values of each list, sorted by sessions, then by name. */
export async function topValues(
  facts: AppFacts,
  range: Range,
  count: number,
): Promise<(list: Dimension) => Listed[]> {
  const rows = await (facts.segment === null
    ? ofPlan(facts.sessions, plan(range, facts.sessions.until))
    : countMatching(facts, LISTS, asOne(range)));
  const lists = new Map<string, Listed[]>(Object.values(DIMENSIONS).map(({ letter }) => [letter, []]));
  for (const [key, [sessions = 0]] of sumByKey(rows)) {
    if (sessions > 0) lists.get(key.charAt(0))?.push({ name: key.slice(1), sessions });
  }
  return (list) => firstOf(lists.get(DIMENSIONS[list].letter) ?? [], count, bySessions);
}

async function ofPlan(facts: SessionFacts, pieces: Plan): Promise<Row[]> {
  const rows = await Promise.all([
    sealedLists(facts, pieces),
    countSessions(facts, LISTS, asOne(pieces.range), edgesOf([pieces])),
  ]);
  return rows.flat();
}

/** Whole hours, by letter and value. */
async function sealedLists({ db, where, cache }: SessionFacts, pieces: Plan): Promise<readonly Row[]> {
  if (isEmpty(pieces.sealed)) return [];
  const statement = sql`SELECT key, sum(d.sessions) FROM session_dimensions AS d
WHERE ${where} AND ${inGrains([pieces])} GROUP BY key`;
  return keptRows(db, cache, 'lists', statement, { parallel: isWide(pieces) });
}
