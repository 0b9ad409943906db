import { z } from 'zod';
import type { Database, Query } from '../../clickhouse/database.ts';
import type { Facts, SessionFacts } from '../ask.ts';
import { startedIn } from '../late.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { isWide, type Plan, type Span, sealedPart, spanOf } from '../plan.ts';
import { edgeRanges, inGrains, inMs, int, isEmpty, unionAll } from '../sql.ts';
import { countedIn, cutHours, fromHoursOr, instantsByKey, recallEdges } from './cut-hours.ts';
import { DIMENSIONS, type Dimension, LISTED, LISTED_WORDS, NO_PAGE, WORD_COLUMNS } from './dimensions.ts';
import type { LiveTail } from './live-tail.ts';
import { byText, descending } from './order.ts';
import { byList, Ranked, type Ranking, rankedLists } from './ranked.ts';

/** The key is the list's letter and the value. */
const LIST_ROW = z.object({ key: z.string(), sessions: z.number() });
type ListRow = z.infer<typeof LIST_ROW>;

const LISTING: Ranking<ListRow> = {
  keyOf: ({ key }) => key,
  add: (a, b) => ({ key: a.key, sessions: a.sessions + b.sessions }),
  order: (a, b) => descending(a.sessions, b.sessions) || byText(a.key, b.key),
};

/**
 * SQL of rows (key, sessions) from the columns of sessions. A session without a pageview is in neither list
 * of pages.
 */
const listRows = (sessions: string, measure = 'count() AS sessions', measured = ''): string => `
SELECT if(length(word) = 1, concat(word, '(none)'), word) AS key, ${measure}
FROM (SELECT arrayJoin(${LISTED_WORDS}) AS word${measured} FROM (${sessions}))
WHERE word NOT IN (${NO_PAGE.map((letter) => `'${letter}'`).join(', ')})
GROUP BY word`;

const TOP_ROW = z.object({
  letter: z.string(),
  /** Negative sessions, name. */
  top: z.array(z.tuple([z.number(), z.string()])),
});

export interface Listed {
  readonly name: string;
  readonly sessions: number;
}

/** Returns the most frequent values of each list, sorted by sessions, then by name. */
export async function topValues(
  db: Database,
  facts: SessionFacts,
  pieces: Plan,
  count: number,
  live: Promise<LiveTail | null>,
): Promise<(list: Dimension) => Listed[]> {
  const sealed = sealedLists(facts, pieces);
  const edges = edgeLists(facts, pieces);
  const tail = tailLists(facts, pieces);
  const options = { parallel: isWide(pieces) };
  if (!facts.hasLate && (sealed === null || !facts.isRepeated(sealed))) {
    if (edges !== null) facts.isRepeated(edges);
    const rows = unionAll(
      [sealed, edges, tail].map((query) => query?.sql ?? null),
      NO_LISTS,
    );
    const sql = `SELECT substring(key, 1, 1) AS letter, groupArraySorted(${int(count)})((-toInt64(sessions), substring(key, 2))) AS top
FROM (${summed(rows)})
GROUP BY letter`;
    const found = await db.query({ name: 'top values', sql, row: TOP_ROW }, {}, options);
    return (list) =>
      (found.find(({ letter }) => letter === DIMENSIONS[list].letter)?.top ?? []).map(([minus, name]) => ({
        name,
        sessions: -minus,
      }));
  }
  const [ranked, loadedEdges, latest, late] = await Promise.all([
    sealed === null
      ? rankedByLetter([])
      : facts.recallMade(
          sealed,
          () =>
            db.query({ ...sealed, sql: `${summed(sealed.sql)} ORDER BY sessions DESC, key` }, {}, options),
          rankedByLetter,
        ),
    recallEdges(facts, edges, loadEdges(db, facts, pieces, edges), byLetter),
    live.then((known) =>
      known === null ? (tail === null ? [] : db.query(tail, {}, options)) : rowsOf(known),
    ),
    lateLists(facts, pieces),
  ]);
  const lists = rankedLists(ranked, loadedEdges, byLetter([...latest, ...late]), LISTING);
  return (list) => {
    const { letter } = DIMENSIONS[list];
    return lists(letter, { limit: count, isListed: ({ sessions }) => sessions > 0 }).map(
      ({ key, sessions }) => ({
        name: key.slice(letter.length),
        sessions,
      }),
    );
  };
}

/** Corrections to the sealed part of the range. */
async function lateLists(facts: SessionFacts, pieces: Plan): Promise<ListRow[]> {
  const { sessions } = await facts.late();
  return startedIn(sessions, sealedPart(pieces)).flatMap(({ words, sign }) =>
    listed(words.map((word) => [word, sign] as const)),
  );
}

/** The rows of `listRows`, from cached sessions. */
const rowsOf = (live: LiveTail): ListRow[] => listed(live.words());

const listed = (words: readonly (readonly [string, number])[]): ListRow[] =>
  words
    .filter(([word]) => !NO_PAGE.includes(word))
    .map(([word, sessions]) => ({ key: word.length === 1 ? `${word}(none)` : word, sessions }));

const summed = (rows: string): string =>
  `SELECT key, sum(r.sessions) AS sessions FROM (${rows}) AS r GROUP BY key`;

const byLetter = (rows: readonly ListRow[]) => byList(rows, ({ key }) => key.charAt(0));
const rankedByLetter = (rows: readonly ListRow[]): ReadonlyMap<string, Ranked<ListRow>> =>
  new Map([...byLetter(rows)].map(([letter, own]) => [letter, new Ranked(own, LISTING)]));

const NO_LISTS = `SELECT '' AS key, 0 AS sessions WHERE false`;

function sealedLists(facts: Facts, pieces: Plan): Query<ListRow> | null {
  if (isEmpty(pieces.sealed)) return null;
  return {
    name: 'sealed lists',
    sql: `SELECT key, d.sessions AS sessions FROM session_dimensions AS d WHERE ${facts.where} AND ${inGrains([pieces])}`,
    row: LIST_ROW,
  };
}

function edgeLists(facts: Facts, pieces: Plan): Query<ListRow> | null {
  const edges = edgeRanges(pieces).map(spanOf);
  if (edges.length === 0) return null;
  return { name: 'list edges', sql: listRows(factsIn(facts, edges)), row: LIST_ROW };
}

const factsIn = (facts: Facts, spans: readonly Span[]): string =>
  `SELECT ${LISTED.map(({ fact, merged }) => `${fact} AS ${merged}`).join(', ')}, started_at
FROM session_facts WHERE ${facts.where} AND ${inMs('started_at', spans)}`;

const loadEdges = (db: Database, facts: Facts, pieces: Plan, edges: Query<ListRow> | null) =>
  fromHoursOr(
    async () => {
      const cut = await cutHours(db, facts, edgeRanges(pieces).map(spanOf), listsOfHour(facts));
      return cut?.flatMap(countedIn).map(([key, sessions]): ListRow => ({ key, sessions })) ?? null;
    },
    async () => (edges === null ? [] : db.query(edges)),
  );

const listsOfHour = (facts: Facts) =>
  instantsByKey('list hour', z.string(), (hour) =>
    listRows(
      factsIn(facts, [hour]),
      `groupArray(toUInt32(started_at - ${int(hour.start)})) AS at`,
      ', started_at',
    ),
  );

function tailLists(facts: SessionFacts, { tail }: Plan): Query<ListRow> | null {
  if (tail === null) return null;
  return { name: 'list tail', sql: listRows(mergedSessions(facts, tail, WORD_COLUMNS)), row: LIST_ROW };
}
