/**
 * The answers of the Public API. Each one belongs to the caller, who may change it. A test compares them with the service's own
 * schemas.
 */

/** ISO 8601 in UTC with milliseconds: `2026-11-20T07:16:00.000Z`. */
export type Timestamp = string;

export interface AppSummary {
  /** Used as `appId`. */
  id: string;
  name: string;
  domain: string;
  access: 'owner' | 'shared';
  createdAt: Timestamp;
}

export interface NewApp {
  /** 1 to 100 characters. */
  readonly name: string;
  /** An http or https origin: `https://shop.example`. */
  readonly domain: string;
}

export interface CreatedApp extends AppSummary {
  access: 'owner';
  /** The app's SDK credential. Shown here once, never again. */
  secretKey: string;
}

/** Starts of the earliest and the latest session; null without data. */
export interface DataBounds {
  oldest: Timestamp | null;
  newest: Timestamp | null;
}

export interface PageView {
  path: string;
  views: number;
  /** Sessions with at least one view of the path in the range. */
  uniqueSessions: number;
}

export interface TimeSpent {
  path: string;
  totalMs: number;
  /** Per pageview of the path in the range; per engagement event where it has none. */
  averageMs: number;
}

export interface UserGrowthPoint {
  /** A UTC day: `2026-11-20`. */
  date: string;
  sessions: number;
  visitors: number;
  pageviews: number;
  clicks: number;
}

export interface Location {
  country: string | null;
  region: string | null;
  city: string | null;
  latitude: number;
  longitude: number;
  /** Sessions. */
  count: number;
}

export interface EventCount {
  /** Target, message or name, or the value of the property; null if it is absent. */
  name: string | null;
  count: number;
  /** Of these events. */
  sessions: number;
  /** Of these sessions. */
  visitors: number;
}

export interface UtmCampaign {
  source: string;
  medium: string | null;
  campaign: string | null;
  term: string | null;
  content: string | null;
  sessions: number;
  visitors: number;
}

/** Each metric of the KPIs with a value of type `T`. */
export interface KpiMetrics<T> {
  sessions: T;
  visitors: T;
  pageviews: T;
  clicks: T;
  errors: T;
  /** 0 to 1, 4 decimals. */
  bounceRate: T;
  averageSessionDurationMs: T;
  /** 2 decimals. */
  pagesPerSession: T;
}

export interface KpiPeriod extends KpiMetrics<number> {
  from: Timestamp;
  to: Timestamp;
}

export interface KpiComparison {
  current: KpiPeriod;
  previous: KpiPeriod;
  /** Current minus previous. */
  change: KpiMetrics<number>;
  /** In percent of previous, 2 decimals; null where previous is 0. */
  changePercent: KpiMetrics<number | null>;
}

export interface SessionShare {
  /** `(none)` for an absent value. */
  name: string;
  sessions: number;
  /** 0 to 1, 4 decimals. */
  share: number;
}

export interface PathSessions {
  path: string;
  sessions: number;
}

/** Each list holds the first 10. */
export interface ExtendedOverview {
  /** The request's bound in UTC; null where omitted. */
  from: Timestamp | null;
  /** The request's bound in UTC; null where omitted. */
  to: Timestamp | null;
  session: {
    sessions: number;
    visitors: number;
    /** Visitors whose first ever session in the app started in the range. */
    newVisitors: number;
    returningVisitors: number;
    bounces: number;
    bounceRate: number;
    averageDurationMs: number;
  };
  page: {
    pageviews: number;
    uniquePages: number;
    pagesPerSession: number;
    /** Engagement per pageview. */
    averageTimeOnPageMs: number;
    topPages: PageView[];
    entryPages: PathSessions[];
    exitPages: PathSessions[];
  };
  interaction: {
    clicks: number;
    clicksPerSession: number;
    customEvents: number;
    engagedMs: number;
    topTargets: { target: string; clicks: number }[];
    topCustomEvents: { name: string; count: number }[];
  };
  technology: {
    browsers: SessionShare[];
    operatingSystems: SessionShare[];
    devices: SessionShare[];
    screenSizes: SessionShare[];
    languages: SessionShare[];
  };
  error: {
    errors: number;
    sessionsWithErrors: number;
    /** Sessions with errors per session: 0 to 1, 4 decimals. */
    errorRate: number;
    topErrors: {
      message: string;
      count: number;
      sessions: number;
    }[];
  };
  traffic: {
    channels: SessionShare[];
    referrers: SessionShare[];
    countries: SessionShare[];
    utmSources: SessionShare[];
  };
}

/** One value per hour of the day in Tehran, 00 first. */
export interface HourValues {
  sessions: number[];
  visitors: number[];
  pageviews: number[];
}

export interface HeatmapDay extends HourValues {
  /** A Tehran day: `2026-11-20`. */
  date: string;
}

/** The last 7 Tehran days, oldest first, today included. */
export interface TrafficHeatmap {
  timezone: 'Asia/Tehran';
  from: Timestamp;
  to: Timestamp;
  days: HeatmapDay[];
}

export interface ActivityDay extends HourValues {
  /** ISO: Monday is 1. */
  dayOfWeek: number;
}

/** Averages over 28 days, 2 decimals. */
export interface AudienceActivity {
  timezone: 'Asia/Tehran';
  from: Timestamp;
  to: Timestamp;
  windowDays: 28;
  days: ActivityDay[];
}

/** The metrics of a local hour, day, week or month. */
export interface SeriesPoint extends KpiMetrics<number> {
  /** When the unit begins, also where that is before the range. */
  start: Timestamp;
}

export interface Series {
  interval: 'hour' | 'day' | 'week' | 'month';
  /** As it was asked for. */
  timezone: string;
  points: SeriesPoint[];
}

export interface BreakdownRow {
  /** Null for sessions without a value. */
  name: string | null;
  sessions: number;
  visitors: number;
  /** Of all sessions of the range: 0 to 1, 4 decimals. */
  share: number;
  pageviews: number;
  bounceRate: number;
  averageSessionDurationMs: number;
  pagesPerSession: number;
}

export interface NamedSessions {
  /** `(none)` for an absent value. */
  name: string;
  sessions: number;
}

/** The 30 minutes that end with the current one. Each list holds the first 10. */
export interface Realtime {
  from: Timestamp;
  to: Timestamp;
  visitors: number;
  sessions: number;
  pageviews: number;
  /** Visitors with an event in the last 5 minutes. */
  activeVisitors: number;
  minutes: { start: Timestamp; visitors: number; pageviews: number }[];
  pages: PageView[];
  channels: NamedSessions[];
  countries: NamedSessions[];
}

/** The key's rate-limit window in the last answer. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends. */
  readonly resetSeconds: number;
}
