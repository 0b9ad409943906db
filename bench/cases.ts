import { kpiRange } from '../src/analytics/ranges.ts';
import type { Analytics } from '../src/analytics/results.ts';
import { BIG_APP, NOW, RANGE_NAMES, type RangeName, ranges, type Shape } from './shape.ts';

/** One question with one range. */
export interface Case {
  readonly endpoint: keyof Analytics;
  /** 'fixed' for those that have a window of their own. */
  readonly range: RangeName | 'fixed';
  ask(analytics: Analytics): Promise<unknown>;
}

/** Every question with every range that it takes. KPIs without a range are those of today and yesterday. */
export function casesOf(shape: Shape): Case[] {
  const byName = ranges(shape);
  const ranged = RANGE_NAMES.flatMap((name): Case[] => {
    const range = byName[name];
    const withRange = (endpoint: keyof Analytics, ask: (analytics: Analytics) => Promise<unknown>): Case => ({
      endpoint,
      range: name,
      ask,
    });
    return [
      withRange('pageviews', (analytics) => analytics.pageviews(BIG_APP, range)),
      withRange('timeSpent', (analytics) => analytics.timeSpent(BIG_APP, range)),
      withRange('kpis', (analytics) =>
        analytics.kpis(
          BIG_APP,
          kpiRange(range, () => NOW),
        ),
      ),
      withRange('userGrowth', (analytics) => analytics.userGrowth(BIG_APP, range)),
      withRange('utmCampaigns', (analytics) => analytics.utmCampaigns(BIG_APP, range)),
      withRange('locations', (analytics) => analytics.locations(BIG_APP, range)),
      withRange('overview', (analytics) => analytics.overview(BIG_APP, range)),
    ];
  });
  return [
    ...ranged,
    { endpoint: 'trafficHeatmap', range: 'fixed', ask: (analytics) => analytics.trafficHeatmap(BIG_APP) },
    { endpoint: 'audienceActivity', range: 'fixed', ask: (analytics) => analytics.audienceActivity(BIG_APP) },
    { endpoint: 'dataBounds', range: 'fixed', ask: (analytics) => analytics.dataBounds(BIG_APP) },
  ];
}
