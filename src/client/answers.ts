/** The answers of the Public API. A test compares them with the service's own schemas. */

/** ISO 8601 in UTC with milliseconds: `2026-11-20T07:16:00.000Z`. */
export type Timestamp = string;

export interface AppSummary {
  /** Used as `appId`. */
  readonly id: string;
  readonly name: string;
  readonly domain: string;
  readonly access: 'owner' | 'shared';
  readonly createdAt: Timestamp;
}

export interface NewApp {
  /** 1 to 100 characters. */
  readonly name: string;
  /** An http or https origin: `https://shop.example`. */
  readonly domain: string;
}

export interface CreatedApp extends AppSummary {
  readonly access: 'owner';
  /** The app's SDK credential. Shown here once, never again. */
  readonly secretKey: string;
}

/** Starts of the earliest and the latest session; null without data. */
export interface DataBounds {
  readonly oldest: Timestamp | null;
  readonly newest: Timestamp | null;
}

export interface PageView {
  readonly path: string;
  readonly views: number;
  /** Sessions with at least one view of the path in the range. */
  readonly uniqueSessions: number;
}

export interface TimeSpent {
  readonly path: string;
  readonly totalMs: number;
  /** Per pageview of the path in the range; per engagement event where it has none. */
  readonly averageMs: number;
}

export interface UserGrowthPoint {
  /** A UTC day: `2026-11-20`. */
  readonly date: string;
  readonly sessions: number;
  readonly visitors: number;
  readonly pageviews: number;
  readonly clicks: number;
}

export interface Location {
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
  readonly latitude: number;
  readonly longitude: number;
  /** Sessions. */
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

/** Each metric of the KPIs with a value of type `T`. */
export interface KpiMetrics<T> {
  readonly sessions: T;
  readonly visitors: T;
  readonly pageviews: T;
  readonly clicks: T;
  readonly errors: T;
  /** 0 to 1, 4 decimals. */
  readonly bounceRate: T;
  readonly averageSessionDurationMs: T;
  /** 2 decimals. */
  readonly pagesPerSession: T;
}

export interface KpiPeriod extends KpiMetrics<number> {
  readonly from: Timestamp;
  readonly to: Timestamp;
}

export interface KpiComparison {
  readonly current: KpiPeriod;
  readonly previous: KpiPeriod;
  /** Current minus previous. */
  readonly change: KpiMetrics<number>;
  /** In percent of previous, 2 decimals; null where previous is 0. */
  readonly changePercent: KpiMetrics<number | null>;
}

export interface SessionShare {
  /** `(none)` for an absent value. */
  readonly name: string;
  readonly sessions: number;
  /** 0 to 1, 4 decimals. */
  readonly share: number;
}

export interface PathSessions {
  readonly path: string;
  readonly sessions: number;
}

/** Each list holds the first 10. */
export interface ExtendedOverview {
  /** The request's bound in UTC; null where omitted. */
  readonly from: Timestamp | null;
  /** The request's bound in UTC; null where omitted. */
  readonly to: Timestamp | null;
  readonly session: {
    readonly sessions: number;
    readonly visitors: number;
    /** Visitors whose first ever session in the app started in the range. */
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
    /** Engagement per pageview. */
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
    readonly browsers: readonly SessionShare[];
    readonly operatingSystems: readonly SessionShare[];
    readonly devices: readonly SessionShare[];
    readonly screenSizes: readonly SessionShare[];
    readonly languages: readonly SessionShare[];
  };
  readonly error: {
    readonly errors: number;
    readonly sessionsWithErrors: number;
    /** Sessions with errors per session: 0 to 1, 4 decimals. */
    readonly errorRate: number;
    readonly topErrors: readonly {
      readonly message: string;
      readonly count: number;
      readonly sessions: number;
    }[];
  };
  readonly traffic: {
    readonly channels: readonly SessionShare[];
    readonly referrers: readonly SessionShare[];
    readonly countries: readonly SessionShare[];
    readonly utmSources: readonly SessionShare[];
  };
}

/** One value per hour of the day in Tehran, 00 first. */
export interface HourValues {
  readonly sessions: readonly number[];
  readonly visitors: readonly number[];
  readonly pageviews: readonly number[];
}

export interface HeatmapDay extends HourValues {
  /** A Tehran day: `2026-11-20`. */
  readonly date: string;
}

/** The last 7 Tehran days, oldest first, today included. */
export interface TrafficHeatmap {
  readonly timezone: 'Asia/Tehran';
  readonly from: Timestamp;
  readonly to: Timestamp;
  readonly days: readonly HeatmapDay[];
}

export interface ActivityDay extends HourValues {
  /** ISO: Monday is 1. */
  readonly dayOfWeek: number;
}

/** Averages over 28 days, 2 decimals. */
export interface AudienceActivity {
  readonly timezone: 'Asia/Tehran';
  readonly from: Timestamp;
  readonly to: Timestamp;
  readonly windowDays: 28;
  readonly days: readonly ActivityDay[];
}
