import type { AppId } from '../../domain/ids.ts';
import type { SeriesQuestion } from '../../domain/interval.ts';
import type { Dimension, Segment } from '../../domain/segment.ts';
import type { EpochMs, OpenRange, Range } from '../../domain/time.ts';
import type { KPI_FIGURES } from './figures.ts';

/**
 * Every question about one app. A list that can be long is an array, or an iterable that can be read
 * repeatedly. Timestamps are ISO 8601 UTC with milliseconds, durations whole ms, rates 0 to 1 with 4
 * decimals, ratios per session 2 decimals. Every figure is exact for the range to the millisecond. All
 * methods reject with AppError `overloaded` or `store_unavailable` if the store does not answer. A segment narrows an
 * answer to some sessions; null or nothing stands for all.
 */
export interface Analytics {
  /** Earliest and latest session start; null without data. */
  dataBounds(app: AppId): Promise<DataBounds>;
  overview(app: AppId, range: OpenRange, segment?: Segment | null): Promise<ExtendedOverview>;
  /** `current` and the period of the same length that ends 1 ms before it. */
  kpis(app: AppId, current: Range, segment?: Segment | null): Promise<KpiComparison>;
  /** Sorted by views descending, then path; `limit` applies after sorting. */
  pageviews(
    app: AppId,
    range: OpenRange,
    limit?: number,
    segment?: Segment | null,
  ): Promise<Iterable<PageView>>;
  /** Sorted by totalMs descending, then path; only paths with engagement events. */
  timeSpent(
    app: AppId,
    range: OpenRange,
    limit?: number,
    segment?: Segment | null,
  ): Promise<Iterable<TimeSpent>>;
  /** Sorted by count descending, then name; `limit` applies after sorting. */
  events(
    app: AppId,
    range: OpenRange,
    question: EventsQuestion,
    limit?: number,
    segment?: Segment | null,
  ): Promise<Iterable<EventRow>>;
  /** Every UTC day of the range; rejects with `validation_failed` beyond 4,000 days. */
  userGrowth(app: AppId, range: OpenRange, segment?: Segment | null): Promise<GrowthPoint[]>;
  /** The last 7 Tehran calendar days, today included. */
  trafficHeatmap(app: AppId, now: EpochMs, segment?: Segment | null): Promise<TrafficHeatmap>;
  /** Averages over the 672 Tehran hours that end with the current one. */
  audienceActivity(app: AppId, now: EpochMs, segment?: Segment | null): Promise<AudienceActivity>;
  /** Sorted by count descending, then names. */
  locations(app: AppId, range: OpenRange, limit?: number, segment?: Segment | null): Promise<Location[]>;
  /** At most 100, sorted by sessions descending, then names. */
  utmCampaigns(app: AppId, range: OpenRange, segment?: Segment | null): Promise<UtmCampaign[]>;
  /** The local hours, days, weeks or months of a zone that meet the range; rejects with `validation_failed` beyond 4,000. */
  series(app: AppId, range: OpenRange, question: SeriesQuestion, segment?: Segment | null): Promise<Series>;
  /** Sorted by sessions descending, then name; `limit` applies after sorting. */
  breakdown(
    app: AppId,
    range: OpenRange,
    by: Dimension,
    limit?: number,
    segment?: Segment | null,
  ): Promise<Iterable<BreakdownRow>>;
  /** The 30 minutes that end with the current one. */
  realtime(app: AppId, now: EpochMs, segment?: Segment | null): Promise<Realtime>;
}

export interface DataBounds {
  readonly oldest: string | null;
  readonly newest: string | null;
}

export interface PageView {
  readonly path: string;
  readonly views: number;
  readonly uniqueSessions: number;
}

export interface TimeSpent {
  readonly path: string;
  readonly totalMs: number;
  readonly averageMs: number;
}

export interface GrowthPoint {
  /** `YYYY-MM-DD`, a UTC day. */
  readonly date: string;
  readonly sessions: number;
  readonly visitors: number;
  readonly pageviews: number;
  readonly clicks: number;
}

export type KpiMetrics = { readonly [Name in (typeof KPI_FIGURES)[number]]: number };

export interface KpiPeriod extends KpiMetrics {
  readonly from: string;
  readonly to: string;
}

export interface KpiComparison {
  readonly current: KpiPeriod;
  readonly previous: KpiPeriod;
  /** Current minus previous, of the rounded values. */
  readonly change: KpiMetrics;
  /** Percent of previous, 2 decimals; null if previous is 0. */
  readonly changePercent: { readonly [Metric in keyof KpiMetrics]: number | null };
}

export interface NamedShare {
  readonly name: string;
  readonly sessions: number;
  readonly share: number;
}

export interface PathSessions {
  readonly path: string;
  readonly sessions: number;
}

export interface ExtendedOverview {
  readonly from: string | null;
  readonly to: string | null;
  readonly session: {
    readonly sessions: number;
    readonly visitors: number;
    readonly newVisitors: number;
    readonly returningVisitors: number;
    readonly bounces: number;
    readonly bounceRate: number;
    readonly averageDurationMs: number;
  };
  readonly page: {
    readonly pageviews: number;
    readonly uniquePages: number;
    readonly pagesPerSession: number;
    readonly averageTimeOnPageMs: number;
    readonly topPages: readonly PageView[];
    readonly entryPages: readonly PathSessions[];
    readonly exitPages: readonly PathSessions[];
  };
  readonly interaction: {
    readonly clicks: number;
    readonly clicksPerSession: number;
    readonly customEvents: number;
    readonly engagedMs: number;
    readonly topTargets: readonly { readonly target: string; readonly clicks: number }[];
    readonly topCustomEvents: readonly { readonly name: string; readonly count: number }[];
  };
  readonly technology: {
    readonly browsers: readonly NamedShare[];
    readonly operatingSystems: readonly NamedShare[];
    readonly devices: readonly NamedShare[];
    readonly screenSizes: readonly NamedShare[];
    readonly languages: readonly NamedShare[];
  };
  readonly error: {
    readonly errors: number;
    readonly sessionsWithErrors: number;
    readonly errorRate: number;
    readonly topErrors: readonly {
      readonly message: string;
      readonly count: number;
      readonly sessions: number;
    }[];
  };
  readonly traffic: {
    readonly channels: readonly NamedShare[];
    readonly referrers: readonly NamedShare[];
    readonly countries: readonly NamedShare[];
    readonly utmSources: readonly NamedShare[];
  };
}

export interface TrafficHeatmap {
  readonly timezone: 'Asia/Tehran';
  readonly from: string;
  readonly to: string;
  /** 7 days, oldest first; each list has 24 hours. */
  readonly days: readonly {
    readonly date: string;
    readonly sessions: readonly number[];
    readonly visitors: readonly number[];
    readonly pageviews: readonly number[];
  }[];
}

export interface AudienceActivity {
  readonly timezone: 'Asia/Tehran';
  readonly from: string;
  readonly to: string;
  readonly windowDays: 28;
  /** Monday first; each list has 24 averages. */
  readonly days: readonly {
    readonly dayOfWeek: number;
    readonly sessions: readonly number[];
    readonly visitors: readonly number[];
    readonly pageviews: readonly number[];
  }[];
}

export interface Location {
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
  readonly latitude: number;
  readonly longitude: number;
  readonly count: number;
}

export interface UtmCampaign {
  readonly source: string;
  readonly medium: string | null;
  readonly campaign: string | null;
  readonly term: string | null;
  readonly content: string | null;
  readonly sessions: number;
  readonly visitors: number;
}

export interface SeriesPoint extends KpiMetrics {
  /** When the local unit begins, also where that is before the range. */
  readonly start: string;
}

export interface Series extends SeriesQuestion {
  readonly points: readonly SeriesPoint[];
}

export interface BreakdownRow {
  /** Null: absent. */
  readonly name: string | null;
  readonly sessions: number;
  readonly visitors: number;
  readonly share: number;
  readonly pageviews: number;
  readonly bounceRate: number;
  readonly averageSessionDurationMs: number;
  readonly pagesPerSession: number;
}

export interface EventsQuestion {
  readonly type: 'click' | 'error' | 'custom';
  /** The rows are the values of this property of the events with this name; null: the rows are names. */
  readonly property: { readonly name: string; readonly key: string } | null;
}

export interface EventRow {
  /** Null: absent. */
  readonly name: string | null;
  readonly count: number;
  readonly sessions: number;
  readonly visitors: number;
}

export interface NamedSessions {
  readonly name: string;
  readonly sessions: number;
}

export interface Realtime {
  readonly from: string;
  readonly to: string;
  readonly visitors: number;
  readonly sessions: number;
  readonly pageviews: number;
  readonly activeVisitors: number;
  /** 30 minutes, oldest first. */
  readonly minutes: readonly {
    readonly start: string;
    readonly visitors: number;
    readonly pageviews: number;
  }[];
  readonly pages: readonly PageView[];
  readonly channels: readonly NamedSessions[];
  readonly countries: readonly NamedSessions[];
}
