import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { type OpenRange, toIso } from '../../domain/time.ts';
import { type Asker, asTheyAre, closed, type Facts } from '../ask.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { isWide, type Plan, plan } from '../plan.ts';
import type { ExtendedOverview, NamedShare, PathSessions } from '../results.ts';
import { averageMs, perSession, rate } from '../rounding.ts';
import { edgeRanges, inGrains, inMs, isEmpty, ofApp, spanOf } from '../sql.ts';
import { eventTotals } from './event-totals.ts';
import { type KeyRow, keySums, LABELS, PAGES } from './keys.ts';
import { byText, descending } from './order.ts';
import { VIEWS } from './pageviews.ts';
import { Ranked, type Ranking, take } from './ranked.ts';
import { sessionTotals } from './session-totals.ts';

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
type Dimension = keyof typeof DIMENSIONS;
const LISTED = Object.values(DIMENSIONS);

const LIST_ROW = z.tuple([z.string(), z.number()]);
/** The list's letter with the value behind it, and sessions. */
type ListRow = z.infer<typeof LIST_ROW>;

const LISTING: Ranking<ListRow> = {
  keyOf: ([key]) => key,
  add: ([key, a], [, b]) => [key, a + b],
  order: ([a, x], [b, y]) => descending(x, y) || byText(a, b),
};
const TOP = 10;

/** The values of a session's columns, as keys of lists. A session without a pageview is in neither list of pages. */
const listRows = (sessions: string): string => `
SELECT concat(pair.1, if(pair.2 = '', '(none)', pair.2)) AS key, count() AS sessions
FROM (${sessions})
ARRAY JOIN [${LISTED.map(({ letter, merged }) => `('${letter}', toString(${merged}))`).join(', ')}] AS pair
WHERE pair.2 != '' OR pair.1 NOT IN ('${DIMENSIONS.entryPages.letter}', '${DIMENSIONS.exitPages.letter}')
GROUP BY key`;

/** The most frequent values of each list, by name where they are equally frequent. */
async function topValues(
  db: Database,
  facts: Facts,
  app: AppId,
  pieces: Plan,
): Promise<(list: Dimension) => ListRow[]> {
  const [sealed, edges, tail] = await Promise.all([
    sealedLists(db, facts, app, pieces),
    edgeLists(db, facts, app, pieces),
    tailLists(db, app, pieces),
  ]);
  const rest = [...edges, ...tail];
  return (list) => {
    const { letter } = DIMENSIONS[list];
    const ranked = sealed.get(letter) ?? new Ranked<ListRow>([], LISTING);
    return [...take(TOP, ranked.with(rest.filter(([key]) => key.startsWith(letter))))].map(
      ([key, sessions]) => [key.slice(letter.length), sessions],
    );
  };
}

/** By letter. */
async function sealedLists(
  db: Database,
  facts: Facts,
  app: AppId,
  pieces: Plan,
): Promise<ReadonlyMap<string, Ranked<ListRow>>> {
  if (isEmpty(pieces.sealed)) return new Map();
  const query = {
    name: 'sealed lists',
    sql: `SELECT key, sum(d.sessions) AS total FROM session_dimensions AS d WHERE ${ofApp(app)} AND ${inGrains([pieces])}
GROUP BY key ORDER BY total DESC, key`,
    row: LIST_ROW,
  };
  return facts.recall(
    query,
    () => db.rows(query, { parallel: isWide(pieces) }),
    (rows) =>
      new Map(
        LISTED.map(({ letter }) => [
          letter,
          new Ranked(
            rows.filter(([key]) => key.startsWith(letter)),
            LISTING,
          ),
        ]),
      ),
  );
}

async function edgeLists(db: Database, facts: Facts, app: AppId, pieces: Plan): Promise<readonly ListRow[]> {
  const edges = edgeRanges(pieces).map(spanOf);
  if (edges.length === 0) return [];
  const query = {
    name: 'list edges',
    sql: listRows(
      `SELECT ${LISTED.map(({ fact, merged }) => `${fact} AS ${merged}`).join(', ')}
FROM session_facts WHERE ${ofApp(app)} AND ${inMs('started_at', edges)}`,
    ),
    row: LIST_ROW,
  };
  return facts.recall(query, () => db.rows(query), asTheyAre, 'when repeated');
}

async function tailLists(db: Database, app: AppId, { tail }: Plan): Promise<ListRow[]> {
  if (tail === null) return [];
  const columns = LISTED.map(({ merged }) => merged);
  const sql = listRows(mergedSessions(app, [tail], columns));
  return db.rows({ name: 'list tail', sql, row: LIST_ROW }, { parallel: true });
}

/** How many keys of a kind there are, and the most frequent of them, by name where they are equally frequent. */
interface TopKeys {
  readonly count: number;
  readonly top: readonly { readonly name: string; readonly count: number; readonly sessions: number }[];
}

async function topKeys(rows: Promise<Iterable<KeyRow>>): Promise<(kind: string) => TopKeys> {
  const kinds = new Map<string, { count: number; top: TopKeys['top'][number][] }>();
  for (const [kind, name, count = 0, sessions = 0] of await rows) {
    if (count === 0) break;
    const found = kinds.get(kind) ?? { count: 0, top: [] };
    kinds.set(kind, found);
    found.count++;
    if (found.top.length < TOP) found.top.push({ name, count, sessions });
  }
  return (kind) => kinds.get(kind) ?? { count: 0, top: [] };
}

export async function overview(
  { db, facts }: Asker,
  app: AppId,
  range: OpenRange,
): Promise<ExtendedOverview> {
  const bounds = closed(range);
  const { page, session } = await facts(app);
  const pieces = plan(bounds, session.until);
  const [[totals], listed, [events], pages, labels] = await Promise.all([
    sessionTotals(db, session, app, [pieces], { newVisitors: true }),
    topValues(db, session, app, pieces),
    eventTotals(db, page, app, [bounds]),
    topKeys(keySums(db, page, app, bounds, PAGES, VIEWS)),
    topKeys(keySums(db, page, app, bounds, LABELS, VIEWS)),
  ]);
  if (totals === undefined || events === undefined) throw new Error('overview: no totals');
  const { sessions } = totals;
  const shares = (list: Dimension): NamedShare[] =>
    listed(list).map(([name, count]) => ({ name, sessions: count, share: rate(count, sessions) }));
  const paths = (list: Dimension): PathSessions[] =>
    listed(list).map(([path, count]) => ({ path, sessions: count }));
  return {
    from: range.from === null ? null : toIso(range.from),
    to: range.to === null ? null : toIso(range.to),
    session: {
      sessions,
      visitors: totals.visitors,
      newVisitors: totals.newVisitors,
      returningVisitors: totals.visitors - totals.newVisitors,
      bounces: totals.bounces,
      bounceRate: rate(totals.bounces, sessions),
      averageDurationMs: averageMs(totals.durationMs, sessions),
    },
    page: {
      pageviews: events.pageviews,
      uniquePages: pages('page').count,
      pagesPerSession: perSession(totals.pageviews, sessions),
      averageTimeOnPageMs: averageMs(events.engagedMs, events.pageviews),
      topPages: pages('page').top.map((row) => ({
        path: row.name,
        views: row.count,
        uniqueSessions: row.sessions,
      })),
      entryPages: paths('entryPages'),
      exitPages: paths('exitPages'),
    },
    interaction: {
      clicks: events.clicks,
      clicksPerSession: perSession(totals.clicks, sessions),
      customEvents: events.customs,
      engagedMs: events.engagedMs,
      topTargets: labels('click').top.map((row) => ({ target: row.name, clicks: row.count })),
      topCustomEvents: labels('custom').top.map((row) => ({ name: row.name, count: row.count })),
    },
    technology: {
      browsers: shares('browsers'),
      operatingSystems: shares('operatingSystems'),
      devices: shares('devices'),
      screenSizes: shares('screenSizes'),
      languages: shares('languages'),
    },
    error: {
      errors: events.errors,
      sessionsWithErrors: totals.withErrors,
      errorRate: rate(totals.withErrors, sessions),
      topErrors: labels('error').top.map((row) => ({
        message: row.name,
        count: row.count,
        sessions: row.sessions,
      })),
    },
    traffic: {
      channels: shares('channels'),
      referrers: shares('referrers'),
      countries: shares('countries'),
      utmSources: shares('utmSources'),
    },
  };
}
