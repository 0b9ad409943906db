import { sql } from '../../clickhouse/sql.ts';
import { DIMENSIONS, type Dimension } from '../answers/dimensions.ts';
import { byText, descending } from '../answers/order.ts';
import type { SessionFacts } from '../input/app-facts.ts';
import { byList, Ranked, type Ranking } from '../memory/ranked.ts';
import { ROW, type Row } from '../memory/rows.ts';
import { asOne } from '../range/grid.ts';
import { isWide, type Plan } from '../range/plan.ts';
import { inGrains, isEmpty } from '../range/sql.ts';
import { edgesOf, singlesOf } from './count.ts';
import { LISTS } from './singles.ts';

const RANKING: Ranking<Row> = {
  keyOf: (row) => row[0],
  add: (a, b) => [a[0], (a[1] as number) + (b[1] as number)],
  order: (a, b) => descending(a[1] as number, b[1] as number) || byText(a[0], b[0]),
};

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
  const [sealed, singles] = await Promise.all([
    sealedLists(facts, pieces),
    singlesOf(facts, LISTS, asOne(pieces.range), edgesOf(facts, LISTS, [pieces])),
  ]);
  const others = byLetter(singles);
  const wanted = { limit: count, isListed: (row: Row) => (row[1] as number) > 0 };
  return (list) => {
    const { letter } = DIMENSIONS[list];
    const ranked = sealed.get(letter) ?? new Ranked<Row>([], RANKING);
    return ranked
      .with(others.get(letter) ?? [])
      .first(wanted)
      .map(([key, sessions = 0]) => ({ name: key.slice(letter.length), sessions }));
  };
}

const byLetter = (rows: readonly Row[]) => byList(rows, (row) => row[0].charAt(0));

/** The lists of whole hours, by letter. */
async function sealedLists(
  { db, where, cache }: SessionFacts,
  pieces: Plan,
): Promise<ReadonlyMap<string, Ranked<Row>>> {
  if (isEmpty(pieces.sealed)) return new Map();
  const statement = sql`SELECT key, sum(d.sessions) AS sessions FROM session_dimensions AS d
WHERE ${where} AND ${inGrains([pieces])} GROUP BY key ORDER BY sessions DESC, key`;
  return cache.recall(
    statement,
    async () => {
      const rows = await db.rows({ name: 'lists', sql: statement, row: ROW }, { parallel: isWide(pieces) });
      return new Map([...byLetter(rows)].map(([letter, own]) => [letter, new Ranked(own, RANKING)]));
    },
    (lists) => [...lists.values()].reduce((sum, { size }) => sum + 2 * size, 0),
  );
}
