import { sql } from '../../clickhouse/sql.ts';
import { DIMENSIONS, type Dimension } from '../answers/dimensions.ts';
import { byText, descending } from '../answers/order.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { keptRows, type Row, sumByKey } from '../memory/rows.ts';
import { asOne } from '../range/grid.ts';
import { isWide, type Plan } from '../range/plan.ts';
import { inGrains, isEmpty } from '../range/sql.ts';
import { countSessions, edgesOf } from './count.ts';
import { LISTS } from './measures.ts';

export interface Listed {
  readonly name: string;
  readonly sessions: number;
}

/** Returns the `count` most frequent values of each list, sorted by sessions, then by name. */
export async function topValues(
  facts: SessionFacts,
  pieces: Plan,
  count: number,
): Promise<(list: Dimension) => Listed[]> {
  const rows = await Promise.all([
    sealedLists(facts, pieces),
    countSessions(facts, LISTS, asOne(pieces.range), edgesOf([pieces])),
  ]);
  const lists = new Map<string, Listed[]>(Object.values(DIMENSIONS).map(({ letter }) => [letter, []]));
  for (const [key, [sessions = 0]] of sumByKey(rows.flat())) {
    if (sessions > 0) lists.get(key.charAt(0))?.push({ name: key.slice(1), sessions });
  }
  return (list) =>
    (lists.get(DIMENSIONS[list].letter) ?? [])
      .sort((a, b) => descending(a.sessions, b.sessions) || byText(a.name, b.name))
      .slice(0, count);
}

/** Whole hours, by letter and value. */
async function sealedLists({ db, where, cache }: SessionFacts, pieces: Plan): Promise<readonly Row[]> {
  if (isEmpty(pieces.sealed)) return [];
  const statement = sql`SELECT key, sum(d.sessions) FROM session_dimensions AS d
WHERE ${where} AND ${inGrains([pieces])} GROUP BY key`;
  return keptRows(db, cache, 'lists', statement, { parallel: isWide(pieces) });
}
