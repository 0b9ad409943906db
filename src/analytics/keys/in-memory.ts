import type { Sql } from '../../clickhouse/sql.ts';
import { byText, descending } from '../answers/order.ts';
import { byList, Ranked, type RankedSums, type Ranking } from '../memory/ranked.ts';
import { ROW, type Row, rowsForMemory } from '../memory/rows.ts';
import { isWide, type Plan } from '../range/plan.ts';
import { edgeKeys, edgesByTurn } from './edges.ts';
import { latePairs } from './late.ts';
import { lateKeySums } from './late-sums.ts';
import { metIn } from './met-before.ts';
import { edgeRows, KEY_SUMS, type KeyGroup, type KeySums, kindOf, sealedRows } from './pieces.ts';
import { type KeyQuestion, named, summed } from './question.ts';
import { readTail } from './tail.ts';

const RANKING: Ranking<Row> = {
  keyOf: (row) => row[0],
  add: (a, b) => {
    const sums = a.slice() as unknown as [string, ...number[]];
    for (let i = 1; i < sums.length; i++) sums[i] = (a[i] as number) + (b[i] as number);
    return sums;
  },
  order: (a, b) => descending(a[1] as number, b[1] as number) || byText(a[0], b[0]),
};

/** Returns the rows of a kind. */
export type Kinds = (kind: string) => RankedSums<Row>;

/**
 * Returns the rows of each kind. The rows of whole hours are kept. Throws `TooLarge` if rows are too large
 * for memory.
 */
export async function fromMemory(asked: KeyQuestion, pieces: Plan): Promise<Kinds> {
  const { facts, group } = asked;
  const options = { parallel: isWide(pieces) };
  const load = (name: string, rows: Sql | null): Promise<Row[]> =>
    rows === null
      ? Promise.resolve([])
      : rowsForMemory(facts.db, { name, sql: summed(asked, rows), row: ROW }, options);
  const sealed = sealedRows(facts, pieces, group);
  const { inMemory, inStore } = edgesByTurn(facts, pieces);
  const [hours, tail, kept, counted, late] = await Promise.all([
    sealed === null
      ? new Map<string, Ranked<Row>>()
      : facts.cache.recall(
          summed(asked, sealed),
          async () => ranked(group, await load('sealed keys', sealed)),
          (lists) => [...lists.values()].reduce((sum, { size }) => sum + 3 * size, 0),
        ),
    readTail(facts, pieces, group),
    edgeKeys(facts, inMemory, group, asked.sums),
    load('key edges', edgeRows(facts, inStore, group)),
    latePairs(facts),
  ]);
  const others = byKind(group, [
    ...tail.sums.map((own) => rowOf(asked, own)),
    ...kept.map(withName),
    ...counted.map(withName),
    ...lateKeySums(late, pieces, group, facts.heldUntil).map((own) => rowOf(asked, own)),
    ...metIn(tail.met, pieces.range).map((pair) => rowOf(asked, [pair, 0, -1, 0, 0])),
  ]);
  return (kind) => (hours.get(kind) ?? new Ranked<Row>([], RANKING)).with(others.get(kind) ?? []);
}

const byKind = ({ kinds: [kind = '', ...others] }: KeyGroup, rows: readonly Row[]) =>
  others.length === 0 ? new Map([[kind, rows]]) : byList(rows, (row) => kindOf(row[0]));
const ranked = (group: KeyGroup, rows: readonly Row[]) =>
  new Map([...byKind(group, rows)].map(([kind, own]) => [kind, new Ranked(own, RANKING)]));

function withName(row: Row): Row {
  const name = named(row[0]);
  return name === row[0] ? row : [name, ...(row.slice(1) as number[])];
}

/** Returns the sums that are asked for. A loop, because a tail has thousands of keys. */
function rowOf({ sums }: KeyQuestion, own: KeySums): Row {
  const row: [string, ...number[]] = [named(own[0])];
  for (const sum of sums) row.push(own[1 + KEY_SUMS.indexOf(sum)] as number);
  return row;
}
