import { kpiRange } from '../src/analytics/range/ranges.ts';
import { type EpochMs, epochMs, type OpenRange } from '../src/domain/time.ts';
import type { RawAnalytics } from './raw/analytics.ts';
import { BIG_APP, NOW, RANGE_NAMES, type RangeName, ranges, type Shape } from './shape.ts';

/** One question with one range. */
export interface Case {
  readonly endpoint: keyof RawAnalytics;
  /** 'fixed' for questions with a window of their own. */
  readonly range: RangeName | 'fixed';
  /** True if the range has ends that can move. */
  readonly moves: boolean;
  /** Asks with the movable ends of the range moved by so many ms. An end that is "now" does not move. */
  ask(analytics: RawAnalytics, movedMs?: number): Promise<unknown>;
}

/**
 * Combines every question with every range that it takes. KPIs without a range compare today with yesterday.
 */
export function casesOf(shape: Shape): Case[] {
  const byName = ranges(shape);
  const ranged = RANGE_NAMES.flatMap((name): Case[] => {
    const moves = name === 'ragged' || name === 'ending now';
    const withRange = (
      endpoint: keyof RawAnalytics,
      ask: (analytics: RawAnalytics, range: OpenRange) => Promise<unknown>,
    ): Case => ({
      endpoint,
      range: name,
      moves,
      ask: (analytics, ms = 0) => ask(analytics, moves ? moved(byName[name], ms) : byName[name]),
    });
    return [
      // Large lists are read row by row, and here to the end.
      withRange('pageviews', async (analytics, range) => [...(await analytics.pageviews(BIG_APP, range))]),
      withRange('timeSpent', async (analytics, range) => [...(await analytics.timeSpent(BIG_APP, range))]),
      withRange('kpis', (analytics, range) => analytics.kpis(BIG_APP, kpiRange(range, NOW))),
      withRange('userGrowth', (analytics, range) => analytics.userGrowth(BIG_APP, range)),
      withRange('utmCampaigns', (analytics, range) => analytics.utmCampaigns(BIG_APP, range)),
      withRange('locations', (analytics, range) => analytics.locations(BIG_APP, range)),
      withRange('overview', (analytics, range) => analytics.overview(BIG_APP, range)),
    ];
  });
  const fixed = (endpoint: keyof RawAnalytics, ask: (analytics: RawAnalytics) => Promise<unknown>): Case => ({
    endpoint,
    range: 'fixed',
    moves: false,
    ask,
  });
  return [
    ...ranged,
    fixed('trafficHeatmap', (analytics) => analytics.trafficHeatmap(BIG_APP, NOW)),
    fixed('audienceActivity', (analytics) => analytics.audienceActivity(BIG_APP, NOW)),
    fixed('dataBounds', (analytics) => analytics.dataBounds(BIG_APP)),
  ];
}

function moved({ from, to }: OpenRange, ms: number): OpenRange {
  const end = (at: EpochMs | null) => (at === null || at === NOW ? at : epochMs(at + ms));
  return ms === 0 ? { from, to } : { from: end(from), to: end(to) };
}
