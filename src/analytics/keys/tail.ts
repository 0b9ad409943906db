import { listOf, number, rowOf, text } from '../../clickhouse/row.ts';
import { identifier, join, sql } from '../../clickhouse/sql.ts';
import type { Range } from '../../domain/time.ts';
import type { PageFacts } from '../input/app-facts.ts';
import { rowsForMemory } from '../memory/rows.ts';
import { isWide, type Plan } from '../range/plan.ts';
import { continuing, type Met, metOf } from './met-before.ts';
import {
  EVERYTHING,
  KEY_SUMS,
  type KeyGroup,
  type KeySums,
  kindOf,
  PAGES,
  TIMES,
  tailRows,
} from './pieces.ts';

/** The sums and pairs of a tail, from raw events. */
interface Tail {
  readonly sums: readonly KeySums[];
  readonly met: readonly Met[];
}

const NO_TAIL: Tail = { sums: [], met: [] };

/** Each group contains those before it. */
const WIDER = [TIMES, PAGES, EVERYTHING];

/** Reads the plan's tail. Questions about the same tail and version share one reading of the widest group. */
export async function readTail(facts: PageFacts, pieces: Plan, group: KeyGroup): Promise<Tail> {
  const { tail } = pieces;
  if (tail === null) return NO_TAIL;
  const { live, app, version } = facts;
  const of = `${version} ${tail.from} ${tail.to}`;
  const needed = await live.noteNeeded(`groups of tail ${app}`, of, facts, WIDER.indexOf(group));
  const place = Math.max(...needed);
  const wide = WIDER[place] ?? group;
  const { sums, met } = await live.latest(
    `tail ${app}`,
    `${of} ${place}`,
    () => readRows(facts, pieces, tail, wide),
    (found) => 5 * found.sums.length + 2 * found.met.length,
  );
  const isOf = (pair: string): boolean => group.kinds.includes(kindOf(pair));
  const isPaired = group.paired !== null;
  return {
    sums: wide === group ? sums : sums.filter(([pair]) => isOf(pair)),
    met: isPaired ? met.filter(({ pair }) => isOf(pair)) : [],
  };
}

const ROW = rowOf([text, number, number, number, number, listOf(text)]);

async function readRows(facts: PageFacts, pieces: Plan, tail: Range, group: KeyGroup): Promise<Tail> {
  const sought = continuing(facts, tail, group);
  const sessions = sought === null ? sql`[]` : sql`groupUniqArrayIf(${sought.session}, ${sought.where})`;
  const rows = await rowsForMemory(
    facts.db,
    {
      name: 'key tail',
      sql: sql`SELECT concat(toString(kind), ' ', toString(key)), ${join(KEY_SUMS.map((sum) => sql`r.${identifier(sum)}`))}, r.continuing
FROM (${tailRows(facts.app, pieces, group, sql`, ${sessions} AS continuing`) ?? sql``}) AS r`,
      row: ROW,
    },
    { parallel: isWide(pieces) },
  );
  const pairs = rows.flatMap(([pair, , , , , own]) => (own.length === 0 ? [] : [[pair, own] as const]));
  const sums = rows.map(([pair, events, sessions, engagedMs, engagements]): KeySums => {
    return [pair, events, sessions, engagedMs, engagements];
  });
  return { sums, met: await metOf(facts, pairs, group) };
}
