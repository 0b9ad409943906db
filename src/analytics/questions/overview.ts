import { type OpenRange, toIso } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import type { Dimension } from '../dimensions.ts';
import { EVERYTHING } from '../key-rows.ts';
import { topKeys } from '../keys.ts';
import { plan } from '../plan.ts';
import type { ExtendedOverview, NamedShare, PathSessions } from '../results.ts';
import { figureOf } from '../rounding.ts';
import { topValues } from './lists.ts';
import { sessionTotals } from './session-totals.ts';

/** Limit of each list. */
const TOP = 10;

export async function overview({ facts }: Asker, range: OpenRange): Promise<ExtendedOverview> {
  const bounds = closed(range);
  const [page, session] = await Promise.all([facts.pages(), facts.sessions()]);
  // The slowest part starts first.
  const [listed, keys, [totals]] = await Promise.all([
    topValues(session, plan(bounds, session.until), TOP),
    topKeys({ facts: page, range: bounds, group: EVERYTHING }, TOP),
    sessionTotals(session, [bounds], true),
  ]);
  if (totals === undefined) throw new Error('overview: no totals');
  const { sessions } = totals;
  const pages = keys('page');
  const clicks = keys('click');
  const customs = keys('custom');
  const errors = keys('error');
  const shares = (list: Dimension): NamedShare[] =>
    listed(list).map((row) => ({ ...row, share: figureOf('share', row.sessions, sessions) }));
  const paths = (list: Dimension): PathSessions[] =>
    listed(list).map((row) => ({ path: row.name, sessions: row.sessions }));
  return {
    from: range.from === null ? null : toIso(range.from),
    to: range.to === null ? null : toIso(range.to),
    session: {
      sessions,
      visitors: totals.visitors,
      newVisitors: totals.newVisitors,
      returningVisitors: totals.visitors - totals.newVisitors,
      bounces: totals.bounces,
      bounceRate: figureOf('bounceRate', totals.bounces, sessions),
      averageDurationMs: figureOf('averageSessionDurationMs', totals.durationMs, sessions),
    },
    page: {
      pageviews: pages.events,
      uniquePages: pages.keys,
      pagesPerSession: figureOf('pagesPerSession', totals.pageviews, sessions),
      averageTimeOnPageMs: figureOf('averageTimeOnPageMs', pages.engagedMs, pages.events),
      topPages: pages.top.map((row) => ({
        path: row.name,
        views: row.count,
        uniqueSessions: row.sessions,
      })),
      entryPages: paths('entryPages'),
      exitPages: paths('exitPages'),
    },
    interaction: {
      clicks: clicks.events,
      clicksPerSession: figureOf('clicksPerSession', totals.clicks, sessions),
      customEvents: customs.events,
      engagedMs: pages.engagedMs,
      topTargets: clicks.top.map((row) => ({ target: row.name, clicks: row.count })),
      topCustomEvents: customs.top.map((row) => ({ name: row.name, count: row.count })),
    },
    technology: {
      browsers: shares('browsers'),
      operatingSystems: shares('operatingSystems'),
      devices: shares('devices'),
      screenSizes: shares('screenSizes'),
      languages: shares('languages'),
    },
    error: {
      errors: errors.events,
      sessionsWithErrors: totals.withErrors,
      errorRate: figureOf('errorRate', totals.withErrors, sessions),
      topErrors: errors.top.map((row) => ({
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
