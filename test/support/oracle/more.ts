import type { EventsQuestion } from '../../../src/analytics/answers/results.ts';
import type { BreakdownRow, EventRow } from '../../../src/answers/rows.ts';
import type { NamedSessions, Realtime, Series, SeriesPoint } from '../../../src/answers/times.ts';
import { AppError } from '../../../src/domain/errors.ts';
import type { SeriesQuestion } from '../../../src/domain/interval.ts';
import type { Dimension } from '../../../src/domain/segment.ts';
import { unitAt } from './calendar.ts';
import { distinct, groupBy, ranked, ratio, sum } from './exact.ts';
import type { Lexicon } from './lexicon.ts';
import { duration, eventsOf, isBounce, type Session } from './model.ts';
import {
  type Bounds,
  eventsIn,
  instantsIn,
  iso,
  kpiMetrics,
  orNull,
  pageviews,
  sessionsAmong,
  startedIn,
  within,
} from './questions.ts';
import { dimensionOf, stored } from './segment.ts';

const MINUTE = 60_000;
const MOST_POINTS = 4_000;
const TOP = 10;

/** `everybody`: all sessions of the app, also those outside of the segment. */
export function series(
  sessions: readonly Session[],
  range: Bounds,
  question: SeriesQuestion,
  everybody: readonly Session[],
): Series {
  const { interval, timezone } = question;
  const instants = instantsIn(everybody);
  const [first, last] = [Math.min(...instants), Math.max(...instants)];
  const isWithout = range.to === null && !(last >= (range.from ?? Number.NEGATIVE_INFINITY));
  if (isWithout || (range.from === null && instants.length === 0)) return { interval, timezone, points: [] };
  const from = range.from ?? unitAt(question, first).start;
  const to = range.to ?? unitAt(question, last).end - 1;
  const points: SeriesPoint[] = [];
  for (let at = from; at <= to; ) {
    if (points.length === MOST_POINTS) throw tooMany();
    const { start, end } = unitAt(question, at);
    const part = { from: Math.max(start, from), to: Math.min(end - 1, to) };
    points.push({ start: iso(start), ...kpiMetrics(sessions, part) });
    at = end;
  }
  return { interval, timezone, points };
}

const tooMany = (): AppError =>
  new AppError('validation_failed', '', {
    errors: [{ field: 'from', message: 'The range holds more than 4000 points; at most 4000 are listed.' }],
  });

const NO_PAGE: readonly Dimension[] = ['entryPage', 'exitPage'];

export function breakdown(
  sessions: readonly Session[],
  range: Bounds,
  by: Dimension,
  everybody: readonly Session[],
  lexicon: Lexicon,
  limit?: number,
): BreakdownRow[] {
  const started = startedIn(sessions, range);
  const groups = groupBy(started, (session) => dimensionOf(session, by, everybody, lexicon));
  if (NO_PAGE.includes(by)) groups.delete('');
  const rows = [...groups].map(([name, own]): BreakdownRow => {
    const views = sum(own.map((session) => eventsOf(session, 'pageview').length));
    return {
      name: orNull(name),
      sessions: own.length,
      visitors: distinct(own.map(({ visitor }) => visitor)),
      share: ratio(own.length, started.length, 4),
      pageviews: views,
      bounceRate: ratio(own.filter(isBounce).length, own.length, 4),
      averageSessionDurationMs: ratio(sum(own.map(duration)), own.length, 0),
      pagesPerSession: ratio(views, own.length, 2),
    };
  });
  return ranked(
    rows,
    (row) => row.sessions,
    ({ name }) => [name],
    limit,
  );
}

export function events(
  sessions: readonly Session[],
  range: Bounds,
  { type, property }: EventsQuestion,
  limit?: number,
): EventRow[] {
  const found = eventsIn(sessions, range, type).filter(
    ({ label }) => property === null || label === stored(property.name),
  );
  const groups = groupBy(found, ({ label, properties }) =>
    property === null ? label : (properties.get(stored(property.key)) ?? ''),
  );
  const rows = [...groups].map(([name, own]) => ({
    name: orNull(name),
    count: own.length,
    sessions: sessionsAmong(own),
    visitors: distinct(own.map(({ session }) => session.visitor)),
  }));
  return ranked(
    rows,
    ({ count }) => count,
    ({ name }) => [name],
    limit,
  );
}

/** The 30 minutes that end with the one of `now`. */
export function realtime(sessions: readonly Session[], now: number, lexicon: Lexicon): Realtime {
  const to = Math.floor(now / MINUTE) * MINUTE + MINUTE - 1;
  const last = (minutes: number): Bounds => ({ from: to - minutes * MINUTE + 1, to });
  const active = (part: Bounds): Session[] =>
    sessions.filter((session) => session.events.some(({ timestamp }) => within(timestamp, part)));
  const visitors = (part: Bounds): number => distinct(active(part).map(({ visitor }) => visitor));
  const views = (part: Bounds): number => eventsIn(sessions, part, 'pageview').length;
  const whole = last(30);
  const counted = active(whole);
  return {
    from: iso(to - 30 * MINUTE + 1),
    to: iso(to),
    visitors: visitors(whole),
    sessions: counted.length,
    pageviews: views(whole),
    activeVisitors: visitors(last(5)),
    minutes: Array.from({ length: 30 }, (_, i) => {
      const start = to + 1 - (30 - i) * MINUTE;
      const part = { from: start, to: start + MINUTE - 1 };
      return { start: iso(start), visitors: visitors(part), pageviews: views(part) };
    }),
    pages: pageviews(sessions, whole, TOP),
    channels: topNames(counted, (session) => lexicon.channel(session)),
    countries: topNames(counted, ({ country }) => country),
  };
}

function topNames(sessions: readonly Session[], name: (session: Session) => string): NamedSessions[] {
  const groups = [...groupBy(sessions, (session) => name(session) || '(none)')];
  return ranked(
    groups.map(([of, own]) => ({ name: of, sessions: own.length })),
    (item) => item.sessions,
    (item) => [item.name],
    TOP,
  );
}
