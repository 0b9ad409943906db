import { z } from 'zod';
import type { Database } from '../../clickhouse/database.ts';
import type { AppId } from '../../domain/ids.ts';
import { type OpenRange, toIso } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import { mergedSessions } from '../merged-sessions.ts';
import { isWide, type Plan, plan } from '../plan.ts';
import type { ExtendedOverview, NamedShare, PathSessions } from '../results.ts';
import { averageMs, perSession, rate } from '../rounding.ts';
import { edgeRanges, inGrains, inMs, isEmpty, ofApp, spanOf, unionAll } from '../sql.ts';
import { eventTotals } from './event-totals.ts';
import { type KeyGroup, keyRows, LABELS, lookBack, PAGES } from './keys.ts';
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

const LIST_ROW = z.object({
  letter: z.string(),
  /** Negative sessions, name. */
  top: z.array(z.tuple([z.number(), z.string()])),
});

/** The values of a session's columns, as keys of lists. A session without a pageview is in neither list of pages. */
const listRows = (sessions: string): string => `
SELECT concat(pair.1, if(pair.2 = '', '(none)', pair.2)) AS key, count() AS sessions
FROM (${sessions})
ARRAY JOIN [${LISTED.map(({ letter, merged }) => `('${letter}', toString(${merged}))`).join(', ')}] AS pair
WHERE pair.2 != '' OR pair.1 NOT IN ('${DIMENSIONS.entryPages.letter}', '${DIMENSIONS.exitPages.letter}')
GROUP BY key`;

/** The ten most frequent values of each dimension, by name where they are equally frequent. */
function topValues(db: Database, app: AppId, pieces: Plan): Promise<z.infer<typeof LIST_ROW>[]> {
  const edges = edgeRanges(pieces).map(spanOf);
  const rows = unionAll(
    [
      isEmpty(pieces.sealed)
        ? null
        : `SELECT key, d.sessions AS sessions FROM session_dimensions AS d WHERE ${ofApp(app)} AND ${inGrains([pieces])}`,
      edges.length === 0
        ? null
        : listRows(
            `SELECT ${LISTED.map(({ fact, merged }) => `${fact} AS ${merged}`).join(', ')}
FROM session_facts WHERE ${ofApp(app)} AND ${inMs('started_at', edges)}`,
          ),
      pieces.tail === null
        ? null
        : listRows(
            mergedSessions(
              app,
              [pieces.tail],
              LISTED.map(({ merged }) => merged),
            ),
          ),
    ],
    '',
  );
  const sql = `SELECT substring(key, 1, 1) AS letter, groupArraySorted(10)((-toInt64(total), substring(key, 2))) AS top
FROM (SELECT key, sum(r.sessions) AS total FROM (${rows}) AS r GROUP BY key)
GROUP BY letter`;
  return db.query({ name: 'top values', sql, row: LIST_ROW }, {}, { parallel: isWide(pieces) });
}

const KEY_ROW = z.object({
  kind: z.enum(['page', 'click', 'error', 'custom']),
  /** How many keys of the kind there are. */
  keys: z.number(),
  /** Negative count, name, sessions. */
  top: z.array(z.tuple([z.number(), z.string(), z.number()])),
});

/** The ten most frequent keys of each kind, by name where they are equally frequent. */
async function topKeys(
  db: Database,
  app: AppId,
  pieces: Plan,
  group: KeyGroup,
): Promise<z.infer<typeof KEY_ROW>[]> {
  const since = await lookBack(db, app, pieces, group);
  // One column to group by is fastest; a label can be absent, a path cannot.
  const isPages = group === PAGES;
  const sql = `SELECT ${isPages ? group.kind : 'kind'} AS kind, count() AS keys, groupArraySorted(10)((-events, name, sessions)) AS top
FROM
(
    SELECT ${isPages ? 'key AS name' : "kind, if(key = '', '(none)', key) AS name"}, sum(r.events) AS events, sum(r.sessions) AS sessions
    FROM (${keyRows(app, pieces, group, since)}) AS r
    GROUP BY ${isPages ? 'name' : 'kind, name'} HAVING events > 0
)
GROUP BY kind`;
  return db.query({ name: 'top keys', sql, row: KEY_ROW }, {}, { parallel: isWide(pieces) });
}

export async function overview(
  { db, watermarks }: Asker,
  app: AppId,
  range: OpenRange,
): Promise<ExtendedOverview> {
  const bounds = closed(range);
  const { page, session } = await watermarks(app);
  const sessionPlan = plan(bounds, session);
  const pagePlan = plan(bounds, page);
  const [[totals], lists, [events], pages, labels] = await Promise.all([
    sessionTotals(db, app, [sessionPlan], { newVisitors: true }),
    topValues(db, app, sessionPlan),
    eventTotals(db, app, [bounds]),
    topKeys(db, app, pagePlan, PAGES),
    topKeys(db, app, pagePlan, LABELS),
  ]);
  if (totals === undefined || events === undefined) throw new Error('overview: no totals');
  const { sessions } = totals;
  const listed = (list: Dimension) =>
    lists.find(({ letter }) => letter === DIMENSIONS[list].letter)?.top ?? [];
  const shares = (list: Dimension): NamedShare[] =>
    listed(list).map(([minus, name]) => ({ name, sessions: -minus, share: rate(-minus, sessions) }));
  const paths = (list: Dimension): PathSessions[] =>
    listed(list).map(([minus, path]) => ({ path, sessions: -minus }));
  const tops = [...pages, ...labels];
  const top = (kind: z.infer<typeof KEY_ROW>['kind']) =>
    (tops.find((row) => row.kind === kind)?.top ?? []).map(([minus, name, met]) => ({
      name,
      count: -minus,
      sessions: met,
    }));
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
      uniquePages: pages[0]?.keys ?? 0,
      pagesPerSession: perSession(totals.pageviews, sessions),
      averageTimeOnPageMs: averageMs(events.engagedMs, events.pageviews),
      topPages: top('page').map((row) => ({
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
      topTargets: top('click').map((row) => ({ target: row.name, clicks: row.count })),
      topCustomEvents: top('custom').map((row) => ({ name: row.name, count: row.count })),
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
      topErrors: top('error').map((row) => ({ message: row.name, count: row.count, sessions: row.sessions })),
    },
    traffic: {
      channels: shares('channels'),
      referrers: shares('referrers'),
      countries: shares('countries'),
      utmSources: shares('utmSources'),
    },
  };
}
