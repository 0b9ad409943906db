import type { AppId } from '../../src/domain/ids.ts';
import { type EpochMs, epochMs, type OpenRange } from '../../src/domain/time.ts';
import { type Asked, spelled } from '../support/generate-segments.ts';
import type { Oracle } from '../support/oracle/oracle.ts';
import type { Bounds } from '../support/oracle/questions.ts';

const DAY = 86_400_000;

/** A question about an app over HTTP, with the oracle's answer. */
export interface Question {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  expected(oracle: Oracle, app: AppId, now: number): unknown;
  /**
   * The oracle's answer without the segment of the question, if it has one. A session may no longer match when earlier events of it
   * arrive, so figures with a segment do not only grow. They are never above these.
   */
  readonly ofAll?: Question['expected'];
}

/** The questions whose window follows the clock, and the data's bounds. */
export const ABOUT_ALL: readonly Question[] = [
  { path: 'sessions/data-bounds', query: {}, expected: (oracle, app) => oracle.dataBounds(app) },
  { path: 'sessions/traffic-heatmap', query: {}, expected: (oracle, app) => oracle.trafficHeatmap(app) },
  {
    path: 'sessions/traffic-audience-activity',
    query: {},
    expected: (oracle, app) => oracle.audienceActivity(app),
  },
  {
    path: 'sessions/overview/kpis',
    query: {},
    expected: (oracle, app, now) => {
      const from = Math.floor(now / DAY) * DAY;
      return oracle.kpis(app, { from: epochMs(from), to: epochMs(from + DAY - 1) });
    },
  },
];

export function aboutRange(bounds: Bounds, limit?: number, asked?: Asked): readonly Question[] {
  const questions = narrowed(bounds, limit, asked);
  if (!asked?.segment) return questions;
  const wide = narrowed(bounds, limit, { ...asked, segment: null });
  return questions.map((question, i) => {
    const { expected } = wide[i] ?? question;
    return { ...question, ofAll: expected };
  });
}

function narrowed({ from, to }: Bounds, limit?: number, asked?: Asked): readonly Question[] {
  const segment = asked?.segment ?? null;
  const range: OpenRange = { from: bound(from), to: bound(to) };
  const query = {
    ...(from === null ? {} : { from: iso(from) }),
    ...(to === null ? {} : { to: iso(to) }),
    ...(segment === null ? {} : { segment: spelled(segment) }),
  };
  const cut = limit === undefined ? query : { ...query, limit: String(limit) };
  const closed = range.from === null || range.to === null ? null : { from: range.from, to: range.to };
  return [
    ...(closed === null
      ? []
      : [
          {
            path: 'sessions/overview/kpis',
            query,
            expected: (oracle: Oracle, app: AppId) => oracle.kpis(app, closed, segment),
          },
        ]),
    {
      path: 'sessions/overview/extended',
      query,
      expected: (oracle, app) => oracle.overview(app, range, segment),
    },
    {
      path: 'sessions/pageviews',
      query: cut,
      expected: (oracle, app) => oracle.pageviews(app, range, limit, segment),
    },
    {
      path: 'sessions/timespent',
      query: cut,
      expected: (oracle, app) => oracle.timeSpent(app, range, limit, segment),
    },
    {
      path: 'sessions/user-growth',
      query,
      expected: (oracle, app) => oracle.userGrowth(app, range, segment),
    },
    {
      path: 'sessions/events',
      query: { ...cut, type: 'click' },
      expected: (oracle, app) => oracle.events(app, range, { type: 'click', property: null }, limit, segment),
    },
    {
      path: 'sessions/locations/all',
      query: cut,
      expected: (oracle, app) => oracle.locations(app, range, limit, segment),
    },
    { path: 'growth/utm', query, expected: (oracle, app) => oracle.utmCampaigns(app, range, segment) },
    ...(asked === undefined
      ? []
      : [
          {
            path: 'sessions/series',
            query: { ...query, ...asked.series },
            expected: (oracle: Oracle, app: AppId) => oracle.series(app, range, asked.series, segment),
          },
          {
            path: 'sessions/breakdown',
            query: { ...cut, by: asked.by },
            expected: (oracle: Oracle, app: AppId) => oracle.breakdown(app, range, asked.by, limit, segment),
          },
        ]),
  ];
}

const bound = (at: number | null): EpochMs | null => (at === null ? null : epochMs(at));
const iso = (at: number): string => new Date(at).toISOString();
