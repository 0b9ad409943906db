import type { Params, Query } from '../../clickhouse/database.ts';
import { int } from '../../clickhouse/literals.ts';
import { listOf, number, rowOf, text, tupleOf } from '../../clickhouse/row.ts';
import { identifier, type Sql, sql } from '../../clickhouse/sql.ts';
import { byText, descending, inOrder } from '../answers/order.ts';
import { planEvents } from '../input/plan-events.ts';
import { lateEventsOf } from '../late/late.ts';
import { ROW, type Row, sumByKey } from '../memory/rows.ts';
import { isWide, type Plan } from '../range/plan.ts';
import { unionAll } from '../range/sql.ts';
import { COUNTED, matchingSessions } from '../segments/matching.ts';
import { pendingRows } from './pending.ts';
import { edgeRows, matchingRows, nameOf, sealedRows } from './pieces.ts';
import { type KeyQuestion, summed } from './question.ts';

/** Returns the first `limit` keys of a group of one kind that the answer lists. A long list is never in memory as a whole. */
export async function keysIn(asked: KeyQuestion, limit: number): Promise<Iterable<Row>> {
  const kept = await keptKeys(asked);
  if (kept !== null) {
    const at = 1 + asked.sums.indexOf(asked.listed);
    return kept.filter((row) => (row[at] as number) > 0).slice(0, limit);
  }
  const having = sql`HAVING sum(r.${identifier(asked.listed)}) > 0`;
  return fromStore(asked, (rows) => ({
    name: 'keys',
    sql: sql`${summed(asked, rows, having)} LIMIT ${int(limit)}`,
    row: ROW,
  }));
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
  const kept = await keptKeys(asked);
  if (kept !== null) return (kind) => topOf(kept, kind, count);
  const rows = await fromStore(asked, (all) => ({
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
        top: top.map(([minus, pair, sessions]) => ({ name: nameOf(pair), count: -minus, sessions })),
      },
    ]),
  );
  return (kind) => found.get(kind) ?? NO_KEYS;
}

function topOf(rows: readonly Row[], kind: string, count: number): TopKeys {
  const own = rows.filter(([pair, events]) => pair.startsWith(`${kind} `) && events !== 0);
  const engaged = rows.filter(([pair]) => pair.startsWith(`${kind} `));
  return {
    keys: own.length,
    events: own.reduce((sum, [, events = 0]) => sum + events, 0),
    engagedMs: engaged.reduce((sum, [, , , ms = 0]) => sum + ms, 0),
    top: own
      .slice(0, count)
      .map(([pair, events = 0, sessions = 0]) => ({ name: nameOf(pair), count: events, sessions })),
  };
}

const piecesOf = ({ facts: { events, pages }, range }: KeyQuestion): Plan =>
  planEvents(events, [range], pages.until)[0] as Plan;

/** About how many small values these are in memory. */
const sizeOf = (rows: readonly Row[] | null): number => 3 * (rows?.length ?? 0);

/** Bytes of text. */
const MOST_KEPT = 8 * 1024 ** 2;

/**
 * Returns the rows of all keys in the order of the answer, from kept rows of the sealed hours; null if these are too large to be
 * kept, or of a segment. Throws `TooManyLate`.
 */
async function keptKeys(asked: KeyQuestion): Promise<readonly Row[] | null> {
  if (asked.facts.segment !== null) return null;
  const { group } = asked;
  const facts = asked.facts.pages;
  const pieces = piecesOf(asked);
  const load = async (name: string, rows: Sql | null, params?: Params): Promise<readonly Row[] | null> => {
    if (rows === null) return [];
    const query = { name, sql: summed(asked, rows), row: ROW };
    return facts.db.rowsUpTo(query, MOST_KEPT, { parallel: isWide(pieces) }, params);
  };
  const sealed = unionAll([sealedRows(facts, pieces, group), edgeRows(facts, pieces, group)], sql``);
  const late = await lateEventsOf(facts, 'page', facts.lateStarts);
  const pending = pendingRows(facts, pieces, group, late);
  const [kept, more] = await Promise.all([
    facts.cache.recall(
      sealed === '' ? 'no keys' : summed(asked, sealed),
      async () => ({ rows: await load('sealed keys', sealed === '' ? null : sealed) }),
      ({ rows }) => sizeOf(rows),
    ),
    pending === null
      ? []
      : facts.live.latest(
          `pending keys ${summed(asked, pending)}`,
          facts.version,
          () => load('pending keys', pending, late?.params),
          sizeOf,
        ),
  ]);
  if (kept.rows === null || more === null) return null;
  if (more.length === 0) return kept.rows;
  const changed = new Set(more.map(([pair]) => pair));
  const same = kept.rows.filter(([pair]) => !changed.has(pair));
  const others = kept.rows.filter(([pair]) => changed.has(pair));
  const summedUp = [...sumByKey([...others, ...more])].map(([pair, own]): Row => [pair, ...own]);
  return inOrder(same, summedUp.sort(byCount), byCount);
}

/** The order of the answers. */
const byCount = (a: Row, b: Row): number => descending(a[1] as number, b[1] as number) || byText(a[0], b[0]);

/** Nothing, with the columns of all rows. */
const NO_ROWS = sql`SELECT '' AS kind, '' AS key, 0 AS events, 0 AS sessions, 0 AS engagedMs, 0 AS engagements WHERE false`;

/** Reads a list: `query` makes it from all rows of the question. Throws `TooManyLate`. */
async function fromStore<Row extends readonly unknown[]>(
  asked: KeyQuestion,
  query: (rows: Sql) => Query<Row>,
): Promise<Iterable<Row>> {
  const { facts, range, group } = asked;
  if (facts.segment !== null) {
    const matching = await matchingSessions(facts);
    const rows = matchingRows(matching.isEvent(range), group);
    return facts.db.list(query(rows), COUNTED, matching.params);
  }
  const { pages } = facts;
  const pieces = piecesOf(asked);
  const late = await lateEventsOf(pages, 'page', pages.lateStarts);
  const rows = unionAll(
    [
      sealedRows(pages, pieces, group),
      edgeRows(pages, pieces, group),
      pendingRows(pages, pieces, group, late),
    ],
    NO_ROWS,
  );
  return facts.db.list(query(rows), { parallel: isWide(pieces) }, late?.params);
}
