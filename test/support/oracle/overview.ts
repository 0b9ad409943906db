import type { ExtendedOverview, NamedShare, PathSessions } from '../../../src/answers/overview.ts';
import { distinct, groupBy, ranked, ratio, sum } from './exact.ts';
import type { Lexicon } from './lexicon.ts';
import { type CountedEvent, duration, eventsOf, isBounce, type Session } from './model.ts';
import { type Bounds, eventsIn, iso, pageviews, sessionsAmong, startedIn, within } from './questions.ts';
import { pagesInOrder } from './segment.ts';

const TOP = 10;
const NONE = '(none)';

/** `all`: the sessions of a segment. `everybody`: those of the app, which tell who is new. */
export function overview(
  all: readonly Session[],
  bounds: Bounds,
  lexicon: Lexicon,
  everybody: readonly Session[] = all,
): ExtendedOverview {
  const started = startedIn(all, bounds);
  return {
    from: bounds.from === null ? null : iso(bounds.from),
    to: bounds.to === null ? null : iso(bounds.to),
    session: sessionSection(everybody, started, bounds),
    page: pageSection(all, started, bounds),
    interaction: interactionSection(all, started, bounds),
    technology: technologySection(started, lexicon),
    error: errorSection(all, started, bounds),
    traffic: trafficSection(started, lexicon),
  };
}

function sessionSection(
  everybody: readonly Session[],
  started: readonly Session[],
  bounds: Bounds,
): ExtendedOverview['session'] {
  const visitors = [...new Set(started.map(({ visitor }) => visitor))];
  const bounces = started.filter(isBounce).length;
  const isNew = (visitor: string): boolean => {
    const starts = everybody.filter((s) => s.visitor === visitor).map((s) => s.startedAt);
    return within(Math.min(...starts), bounds);
  };
  const newVisitors = visitors.filter(isNew).length;
  return {
    sessions: started.length,
    visitors: visitors.length,
    newVisitors,
    returningVisitors: visitors.length - newVisitors,
    bounces,
    bounceRate: ratio(bounces, started.length, 4),
    averageDurationMs: ratio(sum(started.map(duration)), started.length, 0),
  };
}

function pageSection(
  all: readonly Session[],
  started: readonly Session[],
  bounds: Bounds,
): ExtendedOverview['page'] {
  const views = eventsIn(all, bounds, 'pageview');
  const own = sum(started.map((session) => eventsOf(session, 'pageview').length));
  return {
    pageviews: views.length,
    uniquePages: distinct(views.map(({ path }) => path)),
    pagesPerSession: ratio(own, started.length, 2),
    averageTimeOnPageMs: ratio(engagedMs(all, bounds), views.length, 0),
    topPages: pageviews(all, bounds, TOP),
    entryPages: byPath(started.flatMap((session) => pagesInOrder(session).slice(0, 1))),
    exitPages: byPath(started.flatMap((session) => pagesInOrder(session).slice(-1))),
  };
}

/** In the same ms the smaller path is the entry and the greater one the exit. */
function byPath(pages: readonly string[]): PathSessions[] {
  const items = [...groupBy(pages, (path) => path)].map(([path, of]) => ({ path, sessions: of.length }));
  return ranked(
    items,
    ({ sessions }) => sessions,
    ({ path }) => [path],
    TOP,
  );
}

const engagedMs = (all: readonly Session[], bounds: Bounds): number =>
  sum(eventsIn(all, bounds, 'engagement').map(({ durationMs }) => durationMs));

const named = ({ label }: CountedEvent): string => label || NONE;

function interactionSection(
  all: readonly Session[],
  started: readonly Session[],
  bounds: Bounds,
): ExtendedOverview['interaction'] {
  const clicks = eventsIn(all, bounds, 'click');
  const customs = eventsIn(all, bounds, 'custom');
  const own = sum(started.map((session) => eventsOf(session, 'click').length));
  return {
    clicks: clicks.length,
    clicksPerSession: ratio(own, started.length, 2),
    customEvents: customs.length,
    engagedMs: engagedMs(all, bounds),
    topTargets: ranked(
      [...groupBy(clicks, named)].map(([target, of]) => ({ target, clicks: of.length })),
      (item) => item.clicks,
      ({ target }) => [target],
      TOP,
    ),
    topCustomEvents: ranked(
      [...groupBy(customs, named)].map(([name, of]) => ({ name, count: of.length })),
      ({ count }) => count,
      ({ name }) => [name],
      TOP,
    ),
  };
}

function errorSection(
  all: readonly Session[],
  started: readonly Session[],
  bounds: Bounds,
): ExtendedOverview['error'] {
  const errors = eventsIn(all, bounds, 'error');
  const failing = started.filter((session) => eventsOf(session, 'error').length > 0).length;
  return {
    errors: errors.length,
    sessionsWithErrors: failing,
    errorRate: ratio(failing, started.length, 4),
    topErrors: ranked(
      [...groupBy(errors, named)].map(([message, of]) => ({
        message,
        count: of.length,
        sessions: sessionsAmong(of),
      })),
      ({ count }) => count,
      ({ message }) => [message],
      TOP,
    ),
  };
}

function technologySection(started: readonly Session[], lexicon: Lexicon): ExtendedOverview['technology'] {
  return {
    browsers: shares(started, ({ userAgent }) => lexicon.technology(userAgent).browser),
    operatingSystems: shares(started, ({ userAgent }) => lexicon.technology(userAgent).os),
    devices: shares(started, ({ userAgent }) => lexicon.technology(userAgent).device),
    screenSizes: shares(started, ({ screen }) => screen),
    languages: shares(started, ({ language }) => language),
  };
}

function trafficSection(started: readonly Session[], lexicon: Lexicon): ExtendedOverview['traffic'] {
  return {
    channels: shares(started, (session) => lexicon.channel(session)),
    referrers: shares(started, ({ referrer, appDomain }) => lexicon.referrerHost(referrer, appDomain)),
    countries: shares(started, ({ country }) => country),
    utmSources: shares(started, ({ utm }) => utm.source),
  };
}

function shares(sessions: readonly Session[], name: (session: Session) => string): NamedShare[] {
  const groups = groupBy(sessions, (session) => name(session) || NONE);
  const items = [...groups].map(([of, group]) => ({
    name: of,
    sessions: group.length,
    share: ratio(group.length, sessions.length, 4),
  }));
  return ranked(
    items,
    (item) => item.sessions,
    (item) => [item.name],
    TOP,
  );
}
