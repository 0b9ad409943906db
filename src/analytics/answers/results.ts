import type { KpiComparison } from '../../answers/kpis.ts';
import type { ExtendedOverview } from '../../answers/overview.ts';
import type {
  BreakdownRow,
  EventRow,
  GrowthPoint,
  Location,
  PageView,
  TimeSpent,
  UtmCampaign,
} from '../../answers/rows.ts';
import type { AudienceActivity, DataBounds, Realtime, Series, TrafficHeatmap } from '../../answers/times.ts';
import type { AppId } from '../../domain/ids.ts';
import type { SeriesQuestion } from '../../domain/interval.ts';
import type { Dimension, Segment } from '../../domain/segment.ts';
import type { EpochMs, OpenRange, Range } from '../../domain/time.ts';

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

export interface EventsQuestion {
  readonly type: 'click' | 'error' | 'custom';
  /** The rows are the values of this property of the events with this name; null: the rows are names. */
  readonly property: { readonly name: string; readonly key: string } | null;
}
