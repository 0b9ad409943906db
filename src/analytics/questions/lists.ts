import { z } from 'zod';
import type { Database, Query } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Facts } from '../ask.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { isWide, type Plan, spanOf } from '../plan.ts';
import { edgeRanges, inGrains, inMs, int, isEmpty, ofApp, unionAll } from '../sql.ts';
import { byText, descending } from './order.ts';
import { Ranked, type Ranking, take } from './ranked.ts';

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
/** The values of a session's columns, as keys of lists. A session without a pageview is in neither list of pages. */
const listRows = (sessions: string): string => `
SELECT concat(pair.1, if(pair.2 = '', '(none)', pair.2)) AS key, count() AS sessions
FROM (${sessions})
ARRAY JOIN [${LISTED.map(({ letter, merged }) => `('${letter}', toString(${merged}))`).join(', ')}] AS pair
WHERE pair.2 != '' OR pair.1 NOT IN ('${DIMENSIONS.entryPages.letter}', '${DIMENSIONS.exitPages.letter}')
GROUP BY key`;

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
  const [ranked, ...more] = await Promise.all([
    facts.recallMade(
      sealed,
      () => db.query({ ...sealed, sql: `${addedUp(sealed.sql)} ORDER BY sessions DESC, key` }, {}, options),
      rankedByLetter,
    ),
    edges === null ? [] : facts.recall(edges, () => db.query(edges), 'when repeated'),
    tail === null ? [] : db.query(tail, {}, options),
  ]);
  const rest = more.flat();
  return (list) => {
    const { letter } = DIMENSIONS[list];
    const own = rest.filter(({ key }) => key.startsWith(letter));
    const all = (ranked.get(letter) ?? new Ranked<ListRow>([], LISTING)).with(own);
    return [...take(count, all)].map(({ key, sessions }) => ({ name: key.slice(letter.length), sessions }));
  };
}

const addedUp = (rows: string): string =>
  `SELECT key, sum(r.sessions) AS sessions FROM (${rows}) AS r GROUP BY key`;

const rankedByLetter = (rows: readonly ListRow[]): ReadonlyMap<string, Ranked<ListRow>> =>
  new Map(
    LISTED.map(({ letter }) => [
      letter,
      new Ranked(
        rows.filter(({ key }) => key.startsWith(letter)),
        LISTING,
      ),
    ]),
  );

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
  return {
    name: 'list edges',
    sql: listRows(
      `SELECT ${LISTED.map(({ fact, merged }) => `${fact} AS ${merged}`).join(', ')}
FROM session_facts WHERE ${ofApp(app)} AND ${inMs('started_at', edges)}`,
    ),
    row: LIST_ROW,
  };
}

function tailLists(app: AppId, { tail }: Plan): Query<ListRow> | null {
  if (tail === null) return null;
  const columns = LISTED.map(({ merged }) => merged);
  return { name: 'list tail', sql: listRows(mergedSessions(app, [tail], columns)), row: LIST_ROW };
}
