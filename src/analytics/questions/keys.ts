import { z } from 'zod';
import type { Database, Query, RunOptions } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Range } from '../../domain/time.ts';
import type { Memory, PageFacts } from '../ask.ts';
import { lateKeySums } from '../late-pages.ts';
import { isWide, plan, spanOf } from '../plan.ts';
import { edgeRanges, int, unionAll } from '../sql.ts';
import { fromHoursOr, recallEdges } from './cut-hours.ts';
import { edgesOfHours, NO_SUMS } from './key-hours.ts';
import { edgeRows, type KeyGroup, sealedRows, tailRows } from './key-rows.ts';
import { COUNTS, type Counts, type KeyRow, type Measures } from './measures.ts';
import { metBefore, metBeforeRows } from './met-before.ts';
import { byList, type First, Ranked, rankedLists } from './ranked.ts';

/** A question about a group of keys. */
export interface KeyQuestion<Row extends KeyRow> {
  readonly db: Database;
  readonly facts: PageFacts;
  readonly app: AppId;
  readonly range: Range;
  readonly group: KeyGroup;
  readonly measures: Measures<Row>;
}

/**
 * Returns the first `limit` keys of a group of one kind in the range, sorted by the first measure descending,
 * then by name. `sessions`, for pages and errors, is the number of distinct sessions with at least one event
 * of the key in the range.
 */
export async function keySums<Row extends KeyRow>(
  asked: KeyQuestion<Row>,
  limit: number,
): Promise<Iterable<Row>> {
  const { db, facts, measures } = asked;
  const pieces = piecesOf(asked);
  if (pieces.isRepeated || facts.hasLate) {
    const kinds = await fromCache(asked, pieces);
    return kinds(asked.group.kinds[0] ?? '', { limit, isListed: measures.isListed });
  }
  const rest = `HAVING ${measures.listed} ${IN_ORDER} LIMIT ${int(limit)}`;
  const query = { name: 'keys', sql: summed(asked, await pieces.all(), rest), row: measures.row };
  return db.list(query, {}, pieces.options);
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

const TOP_ROW = z.object({
  kind: z.string(),
  keys: z.number(),
  allEvents: z.number(),
  allEngagedMs: z.number(),
  /** Negative count, name, sessions. */
  top: z.array(z.tuple([z.number(), z.string(), z.number()])),
});

/** Returns the totals and the `count` most frequent keys of each kind in the range. */
export async function topKeys(
  question: Omit<KeyQuestion<Counts>, 'measures'>,
  count: number,
): Promise<(kind: string) => TopKeys> {
  const asked = { ...question, measures: COUNTS };
  const pieces = piecesOf(asked);
  if (pieces.isRepeated || asked.facts.hasLate) {
    const kinds = await fromCache(asked, pieces);
    return (kind) => topOf(kinds(kind), count);
  }
  const { listed } = COUNTS;
  const sql = `SELECT kind, countIf(${listed}) AS keys, sum(events) AS allEvents, sum(engagedMs) AS allEngagedMs,
    groupArraySortedIf(${int(count)})((-events, name, sessions), ${listed}) AS top
FROM (${summed(asked, await pieces.all())})
GROUP BY kind`;
  const rows = await asked.db.query({ name: 'top keys', sql, row: TOP_ROW }, {}, pieces.options);
  const kinds = new Map(
    rows.map(({ kind, keys, allEvents, allEngagedMs, top }): [string, TopKeys] => [
      kind,
      {
        keys,
        events: allEvents,
        engagedMs: allEngagedMs,
        top: top.map(([minus, name, sessions]) => ({ name, count: -minus, sessions })),
      },
    ]),
  );
  return (kind) => kinds.get(kind) ?? NO_KEYS;
}

/** Computes the totals from all rows of a kind, in order. */
function topOf(rows: readonly Counts[], count: number): TopKeys {
  const top: TopKeys['top'][number][] = [];
  let [keys, allEvents, allEngagedMs] = [0, 0, 0];
  for (const row of rows) {
    allEvents += row.events;
    allEngagedMs += row.engagedMs;
    if (!COUNTS.isListed(row)) continue;
    keys++;
    if (top.length < count) top.push({ name: row.name, count: row.events, sessions: row.sessions });
  }
  return { keys, events: allEvents, engagedMs: allEngagedMs, top };
}

/** The parts of an answer: sealed hours, edges and tail, each a statement, and the corrections. */
interface KeyPieces<Row> {
  readonly options: RunOptions;
  readonly sealed: Query<Row> | null;
  readonly edges: Query<Row> | null;
  readonly edgesMemory: Memory;
  /** The rows of `edges` from whole cached hours; null if an hour is asked for the first time. */
  edgesOfHours(): Promise<readonly Row[] | null>;
  /** Whether the sealed hours were asked for before, so that caching them pays. */
  readonly isRepeated: boolean;
  readonly tail: Query<Row> | null;
  /** Corrections: −1 session for each pair of the tail that occurred in the range before it. */
  metBefore(): Promise<readonly Row[]>;
  /** Corrections for late events in the sealed hours. */
  late(): Promise<readonly Row[]>;
  all(): Promise<string>;
}

function piecesOf<Row extends KeyRow>(asked: KeyQuestion<Row>): KeyPieces<Row> {
  const { db, facts, app, range, group, measures } = asked;
  const pieces = plan(range, facts.until);
  const rows = {
    sealed: sealedRows(facts, pieces, group),
    edges: edgeRows(facts, pieces, group),
    tail: tailRows(app, pieces, group),
  };
  const options = { parallel: isWide(pieces) };
  const { paired } = group;
  const pairs = paired === null ? null : { ...group, paired };
  const met = async () => pairs && metBeforeRows(db, app, pieces, pairs);
  const query = (name: string, of: string | null, order = '') =>
    of === null ? null : { name, sql: summed(asked, of, order), row: measures.row };
  const sealed = query('sealed keys', rows.sealed, IN_ORDER);
  const edges = query('key edges', rows.edges);
  const isRepeated = sealed !== null && facts.isRepeated(sealed);
  const edgesMemory = facts.events.of(edgeRanges(pieces).map(spanOf));
  if (!isRepeated && edges !== null) edgesMemory.isRepeated(edges);
  return {
    options,
    sealed,
    edges,
    edgesMemory,
    edgesOfHours: async () => (await edgesOfHours(db, facts, pieces, group))?.map(measures.rowOf) ?? null,
    isRepeated,
    tail: query('key tail', rows.tail),
    metBefore: async () => {
      if (pairs === null) return [];
      const found = await metBefore(db, facts, pieces, pairs);
      if (found !== null) return found.map((pair) => measures.rowOf({ ...NO_SUMS, ...pair, sessions: -1 }));
      const asked = query('key tail, met before', await met());
      return asked === null ? [] : db.query(asked, {}, options);
    },
    late: async () => lateKeySums(await facts.late(), pieces, group).map(measures.rowOf),
    all: async () => unionAll([rows.sealed, rows.edges, rows.tail, await met()], NO_ROWS),
  };
}

/**
 * Answers by kind, with rows in order. The sealed hours, and edges that are repeated, come from the cache.
 */
async function fromCache<Row extends KeyRow>(
  { db, facts, measures: { ranking } }: KeyQuestion<Row>,
  { options, sealed, edges, edgesMemory, edgesOfHours: ofHours, tail, metBefore: met, late }: KeyPieces<Row>,
): Promise<(kind: string, wanted?: First<Row>) => readonly Row[]> {
  const load = (query: Query<Row> | null): Promise<readonly Row[]> =>
    query === null ? Promise.resolve([]) : db.query(query, {}, options);
  const byKind = (rows: readonly Row[]) => byList(rows, ({ kind }) => kind);
  const ranked = (rows: readonly Row[]) =>
    new Map([...byKind(rows)].map(([kind, own]) => [kind, new Ranked(own, ranking)]));
  const [hours, loadedEdges, ...latest] = await Promise.all([
    sealed === null ? ranked([]) : facts.recallMade(sealed, () => load(sealed), ranked),
    recallEdges(
      edgesMemory,
      edges,
      fromHoursOr(ofHours, () => load(edges)),
      byKind,
    ),
    load(tail),
    met(),
    late(),
  ]);
  return rankedLists(hours, loadedEdges, byKind(latest.flat()), ranking);
}

/** By the first measure, which is the third column. */
const IN_ORDER = 'ORDER BY 3 DESC, name, kind';
const NO_ROWS = `SELECT '' AS kind, '' AS key, 0 AS events, 0 AS sessions, 0 AS engaged_ms, 0 AS engagements WHERE false`;

/**
 * SQL that sums rows (kind, key, events, sessions, engaged_ms, engagements). Grouping by one column is
 * fastest.
 */
const summed = <Row extends KeyRow>(
  { group, measures }: KeyQuestion<Row>,
  rows: string,
  rest = '',
): string => `SELECT ${onlyKind(group) ?? 'toString(kind)'} AS kind, toString(${group.name}) AS name, ${Object.entries(
  measures.columns,
)
  .map(([column, of]) => `sum(r.${of}) AS ${column}`)
  .join(', ')}
FROM (${rows}) AS r GROUP BY ${onlyKind(group) === null ? 'kind, name' : 'name'} ${rest}`;

const onlyKind = ({ kinds }: KeyGroup): string | null => (kinds.length === 1 ? `'${kinds[0]}'` : null);
