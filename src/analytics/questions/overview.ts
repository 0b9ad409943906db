import type { ExtendedOverview, NamedShare, PathSessions } from '../../answers/overview.ts';
import { type OpenRange, toIso } from '../../domain/time.ts';
import type { Dimension } from '../answers/dimensions.ts';
import { figureOf } from '../answers/rounding.ts';
import { type AppFacts, closed } from '../input/app-facts.ts';
import { type TopKeys, topKeys } from '../lists/lists.ts';
import { EVERYTHING } from '../lists/pieces.ts';
import { topValues } from '../sessions/lists.ts';
import type { SessionTotals } from '../sessions/measures.ts';
import { sessionTotals } from '../sessions/totals.ts';

/** Limit of each list. */
const TOP = 10;

export async function overview(facts: AppFacts, range: OpenRange): Promise<ExtendedOverview> {
  const bounds = closed(range);
  // The totals first: they wait for one statement after the other, and the lists are put together meanwhile.
  const [[totals], listed, keys] = await Promise.all([
    sessionTotals(facts, [bounds], true),
    topValues(facts, bounds, TOP),
    topKeys({ facts, range: bounds, group: EVERYTHING }, TOP),
  ]);
  if (totals === undefined) throw new Error('overview: no totals');
  const found = {
    totals,
    listed,
    pages: keys('page'),
    clicks: keys('click'),
    customs: keys('custom'),
    errors: keys('error'),
  };
  return {
    from: range.from === null ? null : toIso(range.from),
    to: range.to === null ? null : toIso(range.to),
    session: sessionPart(found),
    page: pagePart(found),
    interaction: interactionPart(found),
    technology: {
      browsers: shares(found, 'browsers'),
      operatingSystems: shares(found, 'operatingSystems'),
      devices: shares(found, 'devices'),
      screenSizes: shares(found, 'screenSizes'),
      languages: shares(found, 'languages'),
    },
    error: errorPart(found),
    traffic: {
      channels: shares(found, 'channels'),
      referrers: shares(found, 'referrers'),
      countries: shares(found, 'countries'),
      utmSources: shares(found, 'utmSources'),
    },
  };
}

/** The figures of which the parts of the overview are made. */
interface Found {
  readonly totals: SessionTotals;
  readonly listed: Awaited<ReturnType<typeof topValues>>;
  readonly pages: TopKeys;
  readonly clicks: TopKeys;
  readonly customs: TopKeys;
  readonly errors: TopKeys;
}

const sessionPart = ({ totals }: Found): ExtendedOverview['session'] => ({
  sessions: totals.sessions,
  visitors: totals.visitors,
  newVisitors: totals.newVisitors,
  returningVisitors: totals.visitors - totals.newVisitors,
  bounces: totals.bounces,
  bounceRate: figureOf('bounceRate', totals.bounces, totals.sessions),
  averageDurationMs: figureOf('averageSessionDurationMs', totals.durationMs, totals.sessions),
});

function pagePart({ totals, listed, pages }: Found): ExtendedOverview['page'] {
  const { events, keys: uniquePages, engagedMs, top } = pages;
  const paths = (list: Dimension): PathSessions[] =>
    listed(list).map((row) => ({ path: row.name, sessions: row.sessions }));
  return {
    pageviews: events,
    uniquePages,
    pagesPerSession: figureOf('pagesPerSession', totals.pageviews, totals.sessions),
    averageTimeOnPageMs: figureOf('averageTimeOnPageMs', engagedMs, events),
    topPages: top.map((row) => ({ path: row.name, views: row.count, uniqueSessions: row.sessions })),
    entryPages: paths('entryPages'),
    exitPages: paths('exitPages'),
  };
}

const interactionPart = ({ totals, pages, clicks, customs }: Found): ExtendedOverview['interaction'] => ({
  clicks: clicks.events,
  clicksPerSession: figureOf('clicksPerSession', totals.clicks, totals.sessions),
  customEvents: customs.events,
  engagedMs: pages.engagedMs,
  topTargets: clicks.top.map((row) => ({ target: row.name, clicks: row.count })),
  topCustomEvents: customs.top.map((row) => ({ name: row.name, count: row.count })),
});

const errorPart = ({ totals, errors: { events, top } }: Found): ExtendedOverview['error'] => ({
  errors: events,
  sessionsWithErrors: totals.withErrors,
  errorRate: figureOf('errorRate', totals.withErrors, totals.sessions),
  topErrors: top.map((row) => ({ message: row.name, count: row.count, sessions: row.sessions })),
});

const shares = ({ totals, listed }: Found, list: Dimension): NamedShare[] =>
  listed(list).map((row) => ({ ...row, share: figureOf('share', row.sessions, totals.sessions) }));
