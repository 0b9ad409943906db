import { z } from 'zod';
import type { Database, Query } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Facts } from '../ask.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { isWide, type Plan, type Span, spanOf } from '../plan.ts';
import { edgeRanges, inGrains, inMs, int, isEmpty, ofApp, unionAll } from '../sql.ts';
import { countedIn, cutHours, fromHoursOr, instantsByKey } from './cut-hours.ts';
import { byText, descending } from './order.ts';
import { byList, Ranked, type Ranking, rankedLists, take } from './ranked.ts';

/** Lists of sessions by value: the list's letter in `session_dimensions`, and the columns of a merged session and of a fact. */
const DIMENSIONS = {
  browsers: { letter: 'a', merged: 'browser', fact: 'browser' },
  operatingSystems: { letter: 'b', merged: 'os', fact: 'os' },
  devices: { letter: 'c', merged: 'device', fact: 'device' },
  screenSizes: { letter: 'd', merged: 'screen', fact: 'screen' },
  languages: { letter: 'e', merged: 'language', fact: 'language' },
  channels: { letter: 'f', merged: 'channel', fact: 'channel' },
  referrers: { letter: 'g', merged: 'referrer_host', fact: 'referrer' },
  countries: { letter: 'h', merged: 'country', fact: 'country' },
  utmSources: { letter: 'i', merged: 'utm_source', fact: 'utm_source' },
  entryPages: { letter: 'j', merged: 'entry_path', fact: 'entry_page' },
  exitPages: { letter: 'k', merged: 'exit_path', fact: 'exit_page' },
} as const;
export type Dimension = keyof typeof DIMENSIONS;
const LISTED = Object.values(DIMENSIONS);

/** The list's letter with the value behind it, and sessions. */
const LIST_ROW = z.object({ key: z.string(), sessions: z.number() });
type ListRow = z.infer<typeof LIST_ROW>;

const LISTING: Ranking<ListRow> = {
  keyOf: ({ key }) => key,
  add: (a, b) => ({ key: a.key, sessions: a.sessions + b.sessions }),
  order: (a, b) => descending(a.sessions, b.sessions) || byText(a.key, b.key),
};

const NO_PAGE = [DIMENSIONS.entryPages, DIMENSIONS.exitPages].map(({ letter }) => `'${letter}'`).join(', ');

/** The values of a session's columns, as keys of lists. A session without a pageview is in neither list of pages. */
const listRows = (sessions: string, measure = 'count() AS sessions', measured = ''): string => `
SELECT if(length(word) = 1, concat(word, '(none)'), word) AS key, ${measure}
FROM (SELECT arrayJoin([${LISTED.map(({ letter, merged }) => `concat('${letter}', ${merged})`).join(', ')}]) AS word${measured} FROM (${sessions}))
WHERE word NOT IN (${NO_PAGE})
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

/** The most frequent values of each list, by name where they are equally frequent. */
export async function topValues(
  db: Database,
  facts: Facts,
  app: AppId,
  pieces: Plan,
  count: number,
): Promise<(list: Dimension) => Listed[]> {
  const sealed = sealedLists(app, pieces);
  const edges = edgeLists(app, pieces);
  const tail = tailLists(app, pieces);
  const options = { parallel: isWide(pieces) };
  if (sealed === null || !facts.isRepeated(sealed)) {
    if (edges !== null) facts.isRepeated(edges);
    const rows = unionAll(
      [sealed, edges, tail].map((query) => query?.sql ?? null),
      NO_LISTS,
    );
    const sql = `SELECT substring(key, 1, 1) AS letter, groupArraySorted(${int(count)})((-toInt64(sessions), substring(key, 2))) AS top
FROM (${addedUp(rows)})
GROUP BY letter`;
    const found = await db.query({ name: 'top values', sql, row: TOP_ROW }, {}, options);
    return (list) =>
      (found.find(({ letter }) => letter === DIMENSIONS[list].letter)?.top ?? []).map(([minus, name]) => ({
        name,
        sessions: -minus,
      }));
  }
  const [ranked, ends, latest] = await Promise.all([
    facts.recallMade(
      sealed,
      () => db.query({ ...sealed, sql: `${addedUp(sealed.sql)} ORDER BY sessions DESC, key` }, {}, options),
      rankedByLetter,
    ),
    edges === null
      ? byLetter([])
      : facts.recallMade(edges, loadEdges(db, facts, app, pieces, edges), byLetter, 'when repeated'),
    tail === null ? [] : db.query(tail, {}, options),
  ]);
  const lists = rankedLists(ranked, ends, byLetter(latest), LISTING);
  return (list) => {
    const { letter } = DIMENSIONS[list];
    return [...take(count, lists(letter))].map(({ key, sessions }) => ({
      name: key.slice(letter.length),
      sessions,
    }));
  };
}

const addedUp = (rows: string): string =>
  `SELECT key, sum(r.sessions) AS sessions FROM (${rows}) AS r GROUP BY key`;

const byLetter = (rows: readonly ListRow[]) => byList(rows, ({ key }) => key.charAt(0));
const rankedByLetter = (rows: readonly ListRow[]): ReadonlyMap<string, Ranked<ListRow>> =>
  new Map([...byLetter(rows)].map(([letter, own]) => [letter, new Ranked(own, LISTING)]));

const NO_LISTS = `SELECT '' AS key, 0 AS sessions WHERE false`;

function sealedLists(app: AppId, pieces: Plan): Query<ListRow> | null {
  if (isEmpty(pieces.sealed)) return null;
  return {
    name: 'sealed lists',
    sql: `SELECT key, d.sessions AS sessions FROM session_dimensions AS d WHERE ${ofApp(app)} AND ${inGrains([pieces])}`,
    row: LIST_ROW,
  };
}

function edgeLists(app: AppId, pieces: Plan): Query<ListRow> | null {
  const edges = edgeRanges(pieces).map(spanOf);
  if (edges.length === 0) return null;
  return { name: 'list edges', sql: listRows(factsIn(app, edges)), row: LIST_ROW };
}

const factsIn = (app: AppId, spans: readonly Span[]): string =>
  `SELECT ${LISTED.map(({ fact, merged }) => `${fact} AS ${merged}`).join(', ')}, started_at
FROM session_facts WHERE ${ofApp(app)} AND ${inMs('started_at', spans)}`;

const loadEdges = (db: Database, facts: Facts, app: AppId, pieces: Plan, edges: Query<ListRow>) =>
  fromHoursOr(
    async () => {
      const cut = await cutHours(db, facts, edgeRanges(pieces).map(spanOf), listsOfHour(app));
      return cut?.flatMap(countedIn).map(([key, sessions]): ListRow => ({ key, sessions })) ?? null;
    },
    () => db.query<ListRow>(edges),
  );

const listsOfHour = (app: AppId) =>
  instantsByKey('list hour', z.string(), (hour) =>
    listRows(
      factsIn(app, [hour]),
      `groupArray(toUInt32(started_at - ${int(hour.start)})) AS at`,
      ', started_at',
    ),
  );

function tailLists(app: AppId, { tail }: Plan): Query<ListRow> | null {
  if (tail === null) return null;
  const columns = LISTED.map(({ merged }) => merged);
  return { name: 'list tail', sql: listRows(mergedSessions(app, [tail], columns)), row: LIST_ROW };
}
