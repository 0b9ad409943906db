import type { Analytics } from '../src/analytics/answers/results.ts';
import { kpiRange } from '../src/analytics/range/ranges.ts';
import { parseSegment, type Segment } from '../src/domain/segment.ts';
import { type EpochMs, epochMs, type OpenRange } from '../src/domain/time.ts';
import { BIG_APP, NOW, RANGE_NAMES, type RangeName, ranges, type Shape } from './shape.ts';

/** One question with one range. */
export interface Case {
  /** The question, with its other parameters and its segment. */
  readonly endpoint: string;
  /** 'fixed' for questions with a window of their own. */
  readonly range: RangeName | 'fixed';
  /** True if the range has ends that can move. */
  readonly moves: boolean;
  /** Asks with the movable ends of the range moved by so many ms. An end that is "now" does not move. */
  ask(analytics: Analytics, movedMs?: number): Promise<unknown>;
}

type Asked = (analytics: Analytics, range: OpenRange, segment: Segment | null) => Promise<unknown>;

/** Questions about any range. Large lists are read row by row, and here to the end. */
const RANGED: Readonly<Record<string, Asked>> = {
  pageviews: async (analytics, range) => [...(await analytics.pageviews(BIG_APP, range))],
  timeSpent: async (analytics, range) => [...(await analytics.timeSpent(BIG_APP, range))],
  kpis: (analytics, range) => analytics.kpis(BIG_APP, kpiRange(range, NOW)),
  userGrowth: (analytics, range) => analytics.userGrowth(BIG_APP, range),
  utmCampaigns: (analytics, range) => analytics.utmCampaigns(BIG_APP, range),
  locations: (analytics, range) => analytics.locations(BIG_APP, range),
  overview: (analytics, range) => analytics.overview(BIG_APP, range),
};

const hoursOf =
  (timezone: string): Asked =>
  (analytics, range, segment) =>
    analytics.series(BIG_APP, range, { interval: 'hour', timezone }, segment);

/** The hours of Kathmandu begin at UTC :15. */
const SERIES: Readonly<Record<string, Asked>> = {
  'series by hour, Tehran': hoursOf('Asia/Tehran'),
  'series by hour, Kathmandu': hoursOf('Asia/Kathmandu'),
};

const byBrowser: Asked = async (analytics, range, segment) => [
  ...(await analytics.breakdown(BIG_APP, range, 'browser', undefined, segment)),
];

/** Without a segment. Nothing is added up for them beforehand, so one range is enough. */
const RAGGED: Readonly<Record<string, Asked>> = {
  ...SERIES,
  'breakdown by browser': byBrowser,
  'breakdown by entryPage': async (analytics, range) => [
    ...(await analytics.breakdown(BIG_APP, range, 'entryPage')),
  ],
  'events, clicks': async (analytics, range) => [
    ...(await analytics.events(BIG_APP, range, { type: 'click', property: null })),
  ],
};

/** With a segment. */
const NARROWED: Readonly<Record<string, Asked>> = {
  kpis: (analytics, range, segment) => analytics.kpis(BIG_APP, kpiRange(range, NOW), segment),
  userGrowth: (analytics, range, segment) => analytics.userGrowth(BIG_APP, range, segment),
  pageviews: async (analytics, range, segment) => [
    ...(await analytics.pageviews(BIG_APP, range, undefined, segment)),
  ],
  overview: (analytics, range, segment) => analytics.overview(BIG_APP, range, segment),
  'breakdown by browser': byBrowser,
  ...SERIES,
};

/** About a tenth of the sessions, and the hundredth that saw a page. */
const SEGMENTS = ['country==IR,country==US;device==mobile', 'page==/page/100'] as const;

function segmentOf(text: string): Segment {
  const segment = parseSegment(text);
  if ('problem' in segment) throw new Error(segment.problem);
  return segment;
}

/**
 * Combines every question with every range that it takes. KPIs without a range compare today with yesterday.
 */
export function casesOf(shape: Shape): Case[] {
  const byName = ranges(shape);
  const withRange = (name: RangeName, endpoint: string, ask: Asked, segment: Segment | null = null): Case => {
    const moves = name === 'ragged' || name === 'ending now';
    const range = byName[name];
    return {
      endpoint,
      range: name,
      moves,
      ask: (analytics, ms = 0) => ask(analytics, moves ? moved(range, ms) : range, segment),
    };
  };
  const fixed = (endpoint: string, ask: (analytics: Analytics) => Promise<unknown>): Case => ({
    endpoint,
    range: 'fixed',
    moves: false,
    ask,
  });
  return [
    ...RANGE_NAMES.flatMap((name) =>
      Object.entries(RANGED).map(([endpoint, ask]) => withRange(name, endpoint, ask)),
    ),
    ...Object.entries(RAGGED).map(([endpoint, ask]) => withRange('ragged', endpoint, ask)),
    ...SEGMENTS.flatMap((text) =>
      Object.entries(NARROWED).map(([endpoint, ask]) =>
        withRange('ragged', `${endpoint}, ${text}`, ask, segmentOf(text)),
      ),
    ),
    fixed('trafficHeatmap', (analytics) => analytics.trafficHeatmap(BIG_APP, NOW)),
    fixed('audienceActivity', (analytics) => analytics.audienceActivity(BIG_APP, NOW)),
    fixed('realtime', (analytics) => analytics.realtime(BIG_APP, NOW)),
    fixed('dataBounds', (analytics) => analytics.dataBounds(BIG_APP)),
  ];
}

function moved({ from, to }: OpenRange, ms: number): OpenRange {
  const end = (at: EpochMs | null) => (at === null || at === NOW ? at : epochMs(at + ms));
  return ms === 0 ? { from, to } : { from: end(from), to: end(to) };
}
