import { z } from 'zod';
import { identifier, join, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import { mapped } from '../domain/lists.ts';
import type { Range } from '../domain/time.ts';
import type { PageFacts } from './ask.ts';
import { edgeKeys } from './key-edges.ts';
import {
  edgeRows,
  type KeyGroup,
  type KeySum,
  type KeySums,
  kindOf,
  NO_SUMS,
  nameOf,
  sealedRows,
  tailRows,
} from './key-rows.ts';
import { lateKeySums } from './late-pages.ts';
import { metBefore } from './met-before.ts';
import { byText, descending } from './order.ts';
import { isWide, type Plan } from './plan.ts';
import { byList, type First, Ranked, type Ranking } from './ranked.ts';
import { planEvents } from './retention.ts';
import { ROW, type Row } from './rows.ts';
import { int, unionAll } from './sql.ts';

/** A question about a group of keys. The key of its rows is a pair. */
export interface KeyQuestion {
  readonly facts: PageFacts;
  readonly range: Range;
  readonly group: KeyGroup;
  /** The sums of a row. The rows are sorted by the first, then by key. */
  readonly sums: readonly KeySum[];
  /** The answer lists keys of which this is not 0. */
  readonly listed: KeySum;
}

const RANKING: Ranking<Row> = {
  keyOf: (row) => row[0],
  add: (a, b) => {
    const sums = a.slice() as unknown as [string, ...number[]];
    for (let i = 1; i < sums.length; i++) sums[i] = (a[i] as number) + (b[i] as number);
    return sums;
  },
  order: (a, b) => descending(a[1] as number, b[1] as number) || byText(a[0], b[0]),
};

/**
 * Returns the first `limit` keys of a group of one kind that the answer lists. The first time, the store sorts
 * them, and a long list is never in memory as a whole. From the second time on, the rows of whole hours are
 * kept in order, and the others are added to them.
 */
export async function keysIn(asked: KeyQuestion, limit: number): Promise<Iterable<Row>> {
  const { facts, group, listed, sums } = asked;
  const pieces = planOf(asked);
  if (noteQuestion(asked, pieces)) {
    const at = 1 + sums.indexOf(listed);
    const kinds = await fromMemory(asked, pieces);
    return kinds(group.kinds[0] ?? '', { limit, isListed: (row) => (row[at] as number) > 0 });
  }
  const [rows, less] = await Promise.all([
    facts.db.list(
      {
        name: 'keys',
        sql: sql`${summed(asked, allRows(asked, pieces), sql`HAVING sum(r.${identifier(listed)}) > 0`)} LIMIT ${int(limit)}`,
        row: ROW,
      },
      { parallel: isWide(pieces) },
    ),
    metTwice(asked, pieces),
  ]);
  const at = sums.indexOf('sessions');
  return mapped(
    rows,
    ([pair, ...own]): Row => [pair, ...own.map((sum, i) => (i === at ? sum - less(pair) : sum))],
  );
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
const TOP_ROW = z.tuple([
  z.string(),
  z.number(),
  z.number(),
  z.number(),
  z.array(z.tuple([z.number(), z.string(), z.number()])),
]);

/** Returns the totals and the `count` most frequent keys of each kind of the group. */
export async function topKeys(
  question: Pick<KeyQuestion, 'facts' | 'range' | 'group'>,
  count: number,
): Promise<(kind: string) => TopKeys> {
  const asked = { ...question, sums: ['events', 'sessions', 'engagedMs'], listed: 'events' } as const;
  const { facts } = asked;
  const pieces = planOf(asked);
  if (noteQuestion(asked, pieces)) {
    const kinds = await fromMemory(asked, pieces);
    return (kind) => topOf(kinds(kind), count);
  }
  const statement = sql`SELECT splitByChar(' ', pair)[1] AS kind, countIf(sum0 > 0), sum(sum0), sum(sum2), groupArraySortedIf(${int(count)})((-sum0, pair, sum1), sum0 > 0)
FROM (${summed(asked, allRows(asked, pieces))}) GROUP BY kind`;
  const [rows, less] = await Promise.all([
    facts.db.rows({ name: 'top keys', sql: statement, row: TOP_ROW }, { parallel: isWide(pieces) }),
    metTwice(asked, pieces),
  ]);
  const found = new Map(
    rows.map(([kind, keys, events, engagedMs, top]): [string, TopKeys] => [
      kind,
      {
        keys,
        events,
        engagedMs,
        top: top.map(([minus, pair, sessions]) => ({
          name: nameOf(pair),
          count: -minus,
          sessions: sessions - less(pair),
        })),
      },
    ]),
  );
  return (kind) => found.get(kind) ?? NO_KEYS;
}

/** Computes the totals from all rows of a kind, in order. */
function topOf(rows: readonly Row[], count: number): TopKeys {
  const top: TopKeys['top'][number][] = [];
  let [keys, allEvents, allEngagedMs] = [0, 0, 0];
  for (const row of rows) {
    const events = row[1] as number;
    allEvents += events;
    allEngagedMs += row[3] as number;
    if (events === 0) continue;
    keys++;
    if (top.length < count) top.push({ name: nameOf(row[0]), count: events, sessions: row[2] as number });
  }
  return { keys, events: allEvents, engagedMs: allEngagedMs, top };
}

const planOf = ({ facts, range }: KeyQuestion): Plan =>
  planEvents(facts.events, [range], facts.until)[0] as Plan;

/**
 * Notes the question, and returns whether memory answers it: from the second time on, and if there are late
 * events, which are only corrected there.
 */
function noteQuestion(asked: KeyQuestion, pieces: Plan): boolean {
  const rows = sealedRows(asked.facts, pieces, asked.group);
  const wasAsked = rows !== null && asked.facts.cache.noteAsked(summed(asked, rows));
  return wasAsked || asked.facts.lateHours.length > 0;
}

/** SQL of all rows. A session that continues in the tail counts twice there. */
const allRows = ({ facts, group }: KeyQuestion, pieces: Plan): Sql =>
  unionAll(
    [sealedRows(facts, pieces, group), edgeRows(facts, pieces, group), tailRows(facts.app, pieces, group)],
    NO_ROWS,
  );

/** Returns for each pair how many sessions count twice in `allRows`. */
async function metTwice({ facts, group }: KeyQuestion, pieces: Plan): Promise<(pair: string) => number> {
  const counts = new Map<string, number>();
  for (const pair of (await metBefore(facts, pieces, group)).map(named)) {
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return (pair) => counts.get(pair) ?? 0;
}

/** Returns the rows of each kind in order. The rows of whole hours are kept. */
async function fromMemory(
  asked: KeyQuestion,
  pieces: Plan,
): Promise<(kind: string, wanted?: First<Row>) => readonly Row[]> {
  const { facts, group } = asked;
  const options = { parallel: isWide(pieces) };
  const load = (name: string, rows: Sql | null): Promise<Row[]> =>
    rows === null
      ? Promise.resolve([])
      : facts.db.rows({ name, sql: summed(asked, rows), row: ROW }, options);
  const sealed = sealedRows(facts, pieces, group);
  const edgesAreAsked = facts.cache.noteAsked(
    `edges ${facts.app} ${pieces.sealed.start} ${pieces.sealed.end} ${group.types}`,
  );
  const [hours, tail, edges, met, late] = await Promise.all([
    sealed === null
      ? new Map<string, Ranked<Row>>()
      : facts.cache.recall(
          summed(asked, sealed),
          async () => ranked(group, await load('sealed keys', sealed)),
          (lists) => [...lists.values()].reduce((sum, { size }) => sum + 3 * size, 0),
        ),
    load('key tail', tailRows(facts.app, pieces, group)),
    // A whole hour of events takes longer to read than a part: it is read when it was asked for twice.
    edgesAreAsked
      ? edgeKeys(facts, pieces, group, asked.sums)
      : load('key edges', edgeRows(facts, pieces, group)),
    metBefore(facts, pieces, group),
    facts.late(),
  ]);
  const others = byKind(group, [
    ...tail,
    ...edges.map(withName),
    ...lateKeySums(late, pieces, group).map((own) => rowOf(asked, own)),
    ...met.map((pair) => rowOf(asked, { ...NO_SUMS, pair, sessions: -1 })),
  ]);
  return (kind, wanted) =>
    (hours.get(kind) ?? new Ranked<Row>([], RANKING)).with(others.get(kind) ?? [], wanted);
}

const byKind = ({ kinds: [kind = '', ...others] }: KeyGroup, rows: readonly Row[]) =>
  others.length === 0 ? new Map([[kind, rows]]) : byList(rows, (row) => kindOf(row[0]));
const ranked = (group: KeyGroup, rows: readonly Row[]) =>
  new Map([...byKind(group, rows)].map(([kind, own]) => [kind, new Ranked(own, RANKING)]));

/** An absent label is named in answers. Pages always have a path. */
const named = (pair: string): string =>
  pair.endsWith(' ') && pair.indexOf(' ') === pair.length - 1 ? `${pair}(none)` : pair;

function withName(row: Row): Row {
  const name = named(row[0]);
  return name === row[0] ? row : [name, ...(row.slice(1) as number[])];
}

const rowOf = ({ sums }: KeyQuestion, own: KeySums): Row => [named(own.pair), ...sums.map((sum) => own[sum])];

const NO_ROWS = sql`SELECT '' AS kind, '' AS key, 0 AS events, 0 AS sessions, 0 AS engagedMs, 0 AS engagements WHERE false`;

/** SQL that sums rows by pair, in order. Grouping by one column is fastest. */
const summed = ({ group, sums }: KeyQuestion, rows: Sql, having = sql``): Sql => {
  const [kind, by] =
    group.kinds.length === 1
      ? [quoted(group.kinds[0] ?? ''), sql`name`]
      : [sql`toString(kind)`, sql`kind, name`];
  const own = sums.map((sum, i) => sql`sum(r.${identifier(sum)}) AS sum${i}`);
  return sql`SELECT concat(${kind}, ' ', toString(${group.name}) AS name) AS pair, ${join(own)}
FROM (${rows}) AS r GROUP BY ${by} ${having} ORDER BY sum0 DESC, pair`;
};
