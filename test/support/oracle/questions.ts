import type { KpiComparison, KpiMetrics, KpiPeriod } from '../../../src/answers/kpis.ts';
import type { GrowthPoint, Location, PageView, TimeSpent, UtmCampaign } from '../../../src/answers/rows.ts';
import type { DataBounds } from '../../../src/answers/times.ts';
import { AppError } from '../../../src/domain/errors.ts';
import { distinct, groupBy, ranked, ratio, sum, units } from './exact.ts';
import { type CountedEvent, duration, type EventType, eventsOf, isBounce, type Session } from './model.ts';

const DAY = 86_400_000;
const MOST_DAYS = 4_000;

/** Both bounds are inclusive; null is unbounded. */
export interface Bounds {
  readonly from: number | null;
  readonly to: number | null;
}

export const within = (at: number, { from, to }: Bounds): boolean =>
  (from === null || at >= from) && (to === null || at <= to);

export const startedIn = (sessions: readonly Session[], bounds: Bounds): Session[] =>
  sessions.filter(({ startedAt }) => within(startedAt, bounds));

export const eventsIn = (sessions: readonly Session[], bounds: Bounds, type: EventType): CountedEvent[] =>
  sessions
    .flatMap(({ events }) => events)
    .filter((event) => event.type === type && within(event.timestamp, bounds));

export const sessionsAmong = (events: readonly CountedEvent[]): number =>
  distinct(events.map(({ session }) => session.key));

export const iso = (at: number): string => new Date(at).toISOString();

export function dataBounds(sessions: readonly Session[]): DataBounds {
  const starts = sessions.map(({ startedAt }) => startedAt).sort((a, b) => a - b);
  const [oldest, newest] = [starts.at(0), starts.at(-1)];
  return {
    oldest: oldest === undefined ? null : iso(oldest),
    newest: newest === undefined ? null : iso(newest),
  };
}

export function pageviews(sessions: readonly Session[], bounds: Bounds, limit?: number): PageView[] {
  const groups = groupBy(eventsIn(sessions, bounds, 'pageview'), ({ path }) => path);
  const items = [...groups].map(([path, views]) => ({
    path,
    views: views.length,
    uniqueSessions: sessionsAmong(views),
  }));
  return ranked(
    items,
    ({ views }) => views,
    ({ path }) => [path],
    limit,
  );
}

export function timeSpent(sessions: readonly Session[], bounds: Bounds, limit?: number): TimeSpent[] {
  const views = groupBy(eventsIn(sessions, bounds, 'pageview'), ({ path }) => path);
  const groups = groupBy(eventsIn(sessions, bounds, 'engagement'), ({ path }) => path);
  const items = [...groups].map(([path, engagements]) => {
    const totalMs = sum(engagements.map(({ durationMs }) => durationMs));
    const per = views.get(path)?.length ?? engagements.length;
    return { path, totalMs, averageMs: ratio(totalMs, per, 0) };
  });
  return ranked(
    items,
    ({ totalMs }) => totalMs,
    ({ path }) => [path],
    limit,
  );
}

/** Every start and timestamp. */
export const instantsIn = (sessions: readonly Session[]): number[] =>
  sessions.flatMap(({ startedAt, events }) => [startedAt, ...events.map(({ timestamp }) => timestamp)]);

/** Omitted bounds are those of `everybody`: all sessions of the app. */
export function userGrowth(
  sessions: readonly Session[],
  { from, to }: Bounds,
  everybody: readonly Session[] = sessions,
): GrowthPoint[] {
  const instants = instantsIn(everybody);
  if (to === null && !instants.some((at) => from === null || at >= from)) return [];
  if (from === null && instants.length === 0) return [];
  const dayOf = (at: number): number => Math.floor(at / DAY);
  const first = dayOf(from ?? Math.min(...instants));
  const last = dayOf(to ?? Math.max(...instants));
  if (last - first + 1 > MOST_DAYS) {
    const message = `The range holds ${last - first + 1} UTC days; at most 4000 are listed.`;
    throw new AppError('validation_failed', '', { errors: [{ field: 'from', message }] });
  }
  const points: GrowthPoint[] = [];
  for (let day = first; day <= last; day++) {
    const part = {
      from: Math.max(day * DAY, from ?? day * DAY),
      to: Math.min(day * DAY + DAY - 1, to ?? Number.POSITIVE_INFINITY),
    };
    const started = startedIn(sessions, part);
    points.push({
      date: iso(day * DAY).slice(0, 10),
      sessions: started.length,
      visitors: distinct(started.map(({ visitor }) => visitor)),
      pageviews: eventsIn(sessions, part, 'pageview').length,
      clicks: eventsIn(sessions, part, 'click').length,
    });
  }
  return points;
}

export function locations(sessions: readonly Session[], bounds: Bounds, limit?: number): Location[] {
  const items: Location[] = [];
  const placed = startedIn(sessions, bounds).flatMap(({ latitude, longitude, ...session }) =>
    latitude === null || longitude === null || (latitude === 0 && longitude === 0)
      ? []
      : [{ ...session, latitude, longitude }],
  );
  const place = (s: (typeof placed)[number]): string =>
    JSON.stringify([s.country, s.region, s.city, s.latitude, s.longitude]);
  for (const group of groupBy(placed, place).values()) {
    for (const { country, region, city, latitude, longitude } of group.slice(0, 1)) {
      items.push({
        country: orNull(country),
        region: orNull(region),
        city: orNull(city),
        latitude,
        longitude,
        count: group.length,
      });
    }
  }
  return ranked(
    items,
    ({ count }) => count,
    (item) => [item.country, item.region, item.city, item.latitude, item.longitude],
    limit,
  );
}

export function utmCampaigns(sessions: readonly Session[], bounds: Bounds): UtmCampaign[] {
  const tagged = startedIn(sessions, bounds).filter(({ utm }) => utm.source !== '');
  const combination = ({ utm }: Session): string =>
    JSON.stringify([utm.source, utm.medium, utm.campaign, utm.term, utm.content]);
  const items: UtmCampaign[] = [];
  for (const group of groupBy(tagged, combination).values()) {
    for (const { utm } of group.slice(0, 1)) {
      items.push({
        source: utm.source,
        medium: orNull(utm.medium),
        campaign: orNull(utm.campaign),
        term: orNull(utm.term),
        content: orNull(utm.content),
        sessions: group.length,
        visitors: distinct(group.map(({ visitor }) => visitor)),
      });
    }
  }
  return ranked(
    items,
    (item) => item.sessions,
    (item) => [item.source, item.medium, item.campaign, item.term, item.content],
    100,
  );
}

export const orNull = (text: string): string | null => (text === '' ? null : text);

/** The number of decimals of each metric. */
const KPI_DECIMALS: Readonly<Record<keyof KpiMetrics, number>> = {
  sessions: 0,
  visitors: 0,
  pageviews: 0,
  clicks: 0,
  errors: 0,
  bounceRate: 4,
  averageSessionDurationMs: 0,
  pagesPerSession: 2,
};

export function kpis(sessions: readonly Session[], range: { from: number; to: number }): KpiComparison {
  const length = range.to - range.from + 1;
  const current = kpiPeriod(sessions, range);
  const previous = kpiPeriod(sessions, { from: range.from - length, to: range.from - 1 });
  const difference = (metric: keyof KpiMetrics): number =>
    units(current[metric], KPI_DECIMALS[metric]) - units(previous[metric], KPI_DECIMALS[metric]);
  const each = <Value>(value: (metric: keyof KpiMetrics) => Value): Record<keyof KpiMetrics, Value> => ({
    sessions: value('sessions'),
    visitors: value('visitors'),
    pageviews: value('pageviews'),
    clicks: value('clicks'),
    errors: value('errors'),
    bounceRate: value('bounceRate'),
    averageSessionDurationMs: value('averageSessionDurationMs'),
    pagesPerSession: value('pagesPerSession'),
  });
  return {
    current,
    previous,
    change: each((metric) => ratio(difference(metric), 10 ** KPI_DECIMALS[metric], KPI_DECIMALS[metric])),
    changePercent: each((metric) =>
      previous[metric] === 0
        ? null
        : ratio(100 * difference(metric), units(previous[metric], KPI_DECIMALS[metric]), 2),
    ),
  };
}

const kpiPeriod = (sessions: readonly Session[], range: { from: number; to: number }): KpiPeriod => ({
  from: iso(range.from),
  to: iso(range.to),
  ...kpiMetrics(sessions, range),
});

export function kpiMetrics(sessions: readonly Session[], range: Bounds): KpiMetrics {
  const started = startedIn(sessions, range);
  return {
    sessions: started.length,
    visitors: distinct(started.map(({ visitor }) => visitor)),
    pageviews: eventsIn(sessions, range, 'pageview').length,
    clicks: eventsIn(sessions, range, 'click').length,
    errors: eventsIn(sessions, range, 'error').length,
    bounceRate: ratio(started.filter(isBounce).length, started.length, 4),
    averageSessionDurationMs: ratio(sum(started.map(duration)), started.length, 0),
    pagesPerSession: ratio(
      sum(started.map((session) => eventsOf(session, 'pageview').length)),
      started.length,
      2,
    ),
  };
}
