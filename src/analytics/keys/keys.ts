import type { Query } from '../../clickhouse/database.ts';
import { listOf, number, rowOf, text, tupleOf } from '../../clickhouse/row.ts';
import { identifier, type Sql, sql } from '../../clickhouse/sql.ts';
import { mapped } from '../../domain/lists.ts';
import { planEvents } from '../input/plan-events.ts';
import { TooManyLate } from '../late/changes.ts';
import type { RankedSums } from '../memory/ranked.ts';
import { ROW, type Row, TooLarge } from '../memory/rows.ts';
import { isWide, type Plan } from '../range/plan.ts';
import { int, unionAll } from '../range/sql.ts';
import { fromMemory, type Kinds } from './in-memory.ts';
import { metBefore, metRows } from './met-before.ts';
import { edgeRows, nameOf, sealedRows, tailRows } from './pieces.ts';
import { type KeyQuestion, named, summed } from './question.ts';

/**
 * Returns the first `limit` keys of a group of one kind that the answer lists. The first time, the store sorts
 * them, and a long list is never in memory as a whole. From the second time on, the rows of whole hours are
 * kept in order, and the others are added to them.
 */
export async function keysIn(asked: KeyQuestion, limit: number): Promise<Iterable<Row>> {
  const { group, listed, sums } = asked;
  const pieces = planOf(asked);
  const kinds = await remembered(asked, pieces);
  if (kinds !== null) {
    const at = 1 + sums.indexOf(listed);
    return kinds(group.kinds[0] ?? '').first({ limit, isListed: (row) => (row[at] as number) > 0 });
  }
  const having = sql`HAVING sum(r.${identifier(listed)}) > 0`;
  const [rows, twice] = await fromStore(asked, pieces, (all) => ({
    name: 'keys',
    sql: sql`${summed(asked, all, having)} LIMIT ${int(limit)}`,
    row: ROW,
  }));
  const at = 1 + sums.indexOf('sessions');
  if (at === 0 || twice.size === 0) return rows;
  return mapped(rows, (row): Row => {
    const less = twice.get(row[0]);
    return less === undefined ? row : (row.with(at, (row[at] as number) - less) as unknown as Row);
  });
}

/**
 * Totals of a kind's keys: the number of keys, their events and engagement; and the most frequent keys,
 * sorted by count, then by name.
 */
export interface TopKeys {
  readonly keys: number;
  readonly events: number;
  readonly engagedMs: number;
  readonly top: readonly { readonly name: string; readonly count: number; readonly sessions: number }[];
}

const NO_KEYS: TopKeys = { keys: 0, events: 0, engagedMs: 0, top: [] };

/** The kind, its keys, events and engagement; negative count, pair and sessions of the first keys. */
const TOP_ROW = rowOf([text, number, number, number, listOf(tupleOf([number, text, number]))]);

/** Returns the totals and the `count` most frequent keys of each kind of the group. */
export async function topKeys(
  question: Pick<KeyQuestion, 'facts' | 'range' | 'group'>,
  count: number,
): Promise<(kind: string) => TopKeys> {
  const asked = { ...question, sums: ['events', 'sessions', 'engagedMs'], listed: 'events' } as const;
  const pieces = planOf(asked);
  const kinds = await remembered(asked, pieces);
  if (kinds !== null) return (kind) => topOf(kinds(kind), count);
  const [rows, twice] = await fromStore(asked, pieces, (all) => ({
    name: 'top keys',
    sql: sql`SELECT splitByChar(' ', pair)[1] AS kind, countIf(sum0 > 0), sum(sum0), sum(sum2), groupArraySortedIf(${int(count)})((-sum0, pair, sum1), sum0 > 0)
FROM (${summed(asked, all)}) GROUP BY kind`,
    row: TOP_ROW,
  }));
  const found = new Map(
    [...rows].map(([kind, keys, events, engagedMs, top]): [string, TopKeys] => [
      kind,
      {
        keys,
        events,
        engagedMs,
        top: top.map(([minus, pair, sessions]) => ({
          name: nameOf(pair),
          count: -minus,
          sessions: sessions - (twice.get(pair) ?? 0),
        })),
      },
    ]),
  );
  return (kind) => found.get(kind) ?? NO_KEYS;
}

const eventsOf = (row: Row): number => row[1] as number;
const hasEvents = (row: Row): boolean => eventsOf(row) !== 0;

/** Computes the totals from the rows of a kind. */
const topOf = (rows: RankedSums<Row>, count: number): TopKeys => ({
  keys: rows.total((row) => (hasEvents(row) ? 1 : 0)),
  events: rows.total(eventsOf),
  engagedMs: rows.total((row) => row[3] as number),
  top: rows
    .first({ limit: count, isListed: hasEvents })
    .map((row) => ({ name: nameOf(row[0]), count: eventsOf(row), sessions: row[2] as number })),
});

const planOf = ({ facts, range }: KeyQuestion): Plan =>
  planEvents(facts.events, [range], facts.until)[0] as Plan;

/**
 * Returns the rows from memory. Null if they are not kept there: the question is new, or the rows are too large. Late
 * events are only corrected in memory, so it throws `TooManyLate` if rows are too large for that.
 */
async function remembered(asked: KeyQuestion, pieces: Plan): Promise<Kinds | null> {
  const { app, cache, lateHours } = asked.facts;
  if (!noteQuestion(asked, pieces)) return null;
  const tooLarge = `too large ${app} ${asked.group.types}`;
  if (cache.get(tooLarge) === undefined) {
    try {
      return await fromMemory(asked, pieces);
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      cache.set(tooLarge, {}, 0);
    }
  }
  if (lateHours.length > 0) throw new TooManyLate();
  return null;
}

/**
 * Notes the question, and returns whether memory answers it: from the second time on, and if there are late
 * events, which are only corrected there.
 */
function noteQuestion(asked: KeyQuestion, pieces: Plan): boolean {
  const rows = sealedRows(asked.facts, pieces, asked.group);
  const wasAsked = rows !== null && asked.facts.cache.noteAsked(summed(asked, rows));
  return wasAsked || asked.facts.lateHours.length > 0;
}

/** Nothing, with the columns of all rows. */
const NO_ROWS = sql`SELECT '' AS kind, '' AS key, 0 AS events, 0 AS sessions, 0 AS engagedMs, 0 AS engagements WHERE false`;

type Twice = ReadonlyMap<string, number>;
const NOTHING_TWICE: Twice = new Map();

/**
 * Reads a list from all rows of the question, and how many sessions count twice in them, by pair. If they are too many
 * for memory, the statement subtracts them itself, and so do those of the next questions.
 */
async function fromStore<Row extends readonly unknown[]>(
  asked: KeyQuestion,
  pieces: Plan,
  query: (all: Sql) => Query<Row>,
): Promise<[Iterable<Row>, Twice]> {
  const { facts, group } = asked;
  const all = [
    sealedRows(facts, pieces, group),
    edgeRows(facts, pieces, group),
    tailRows(facts.app, pieces, group),
  ];
  const read = (...more: (Sql | null)[]): Promise<Iterable<Row>> =>
    facts.db.list(query(unionAll([...all, ...more], NO_ROWS)), { parallel: isWide(pieces) });
  const tooMany = `too many continue ${facts.app} ${group.types}`;
  if (facts.cache.get(tooMany) === undefined) {
    const [rows, twice] = await Promise.all([read(), metTwice(asked, pieces)]);
    if (twice !== null) return [rows, twice];
    facts.cache.set(tooMany, {}, 0);
  }
  return [await read(metRows(facts, pieces, group)), NOTHING_TWICE];
}

/** Returns how many sessions count twice, by pair; null if they are too many for memory. */
async function metTwice({ facts, group }: KeyQuestion, pieces: Plan): Promise<Twice | null> {
  try {
    const counts = new Map<string, number>();
    for (const pair of (await metBefore(facts, pieces, group)).map(named)) {
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
    return counts;
  } catch (error) {
    if (error instanceof TooLarge) return null;
    throw error;
  }
}
