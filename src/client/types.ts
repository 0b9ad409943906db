import type {
  AppSummary,
  AudienceActivity,
  BreakdownRow,
  CreatedApp,
  DataBounds,
  EventCount,
  ExtendedOverview,
  KpiComparison,
  Location,
  NewApp,
  PageView,
  RateLimit,
  Realtime,
  Series,
  TimeSpent,
  TrafficHeatmap,
  UserGrowthPoint,
  UtmCampaign,
} from './answers.ts';
import type { ClientError } from './errors.ts';

/** What a session is, by which a breakdown lists. */
export type Dimension =
  | 'browser'
  | 'os'
  | 'device'
  | 'screen'
  | 'language'
  | 'channel'
  | 'referrer'
  | 'country'
  | 'region'
  | 'city'
  | 'source'
  | 'medium'
  | 'campaign'
  | 'term'
  | 'content'
  | 'entryPage'
  | 'exitPage'
  | 'visitorType';

/** An instant: ISO 8601 with an offset or `Z`, or a Date. */
export type Instant = string | Date;

export interface AppParams {
  /** The app, as `listApps` names it. */
  readonly appId: string;
}

export interface SegmentParams extends AppParams {
  /** Narrows the answer to some sessions: `country==IR;device!=mobile`. */
  readonly segment?: string | undefined;
}

/** Without a bound the range is unbounded on its side. Both are inclusive. */
export interface RangeParams extends SegmentParams {
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
}

export interface ListParams extends RangeParams {
  /** Cuts the list after ordering: 1 to 10,000. */
  readonly limit?: number | undefined;
}

export interface SeriesParams extends RangeParams {
  readonly interval: 'hour' | 'day' | 'week' | 'month';
  /** An IANA name, or an offset: `+03:30`. UTC by default. */
  readonly timezone?: string | undefined;
}

export interface BreakdownParams extends ListParams {
  readonly by: Dimension;
}

export interface EventsParams extends ListParams {
  readonly type: 'click' | 'error' | 'custom';
  /** Only the custom events with this name. Goes with `property`. */
  readonly name?: string | undefined;
  /** The rows are the values of this property. */
  readonly property?: string | undefined;
}

export type NoParams = Readonly<Record<string, never>>;

/** The parameters and the answer of each question. */
interface Questions {
  listApps: [NoParams, AppSummary[]];
  getDataBounds: [AppParams, DataBounds];
  getExtendedOverview: [RangeParams, ExtendedOverview];
  getOverviewKpis: [RangeParams, KpiComparison];
  listPageviews: [ListParams, PageView[]];
  listTimeSpent: [ListParams, TimeSpent[]];
  listEvents: [EventsParams, EventCount[]];
  listUserGrowth: [RangeParams, UserGrowthPoint[]];
  getTrafficHeatmap: [SegmentParams, TrafficHeatmap];
  getAudienceActivity: [SegmentParams, AudienceActivity];
  listLocations: [ListParams, Location[]];
  listUtmCampaigns: [RangeParams, UtmCampaign[]];
  getSeries: [SeriesParams, Series];
  listBreakdown: [BreakdownParams, BreakdownRow[]];
  getRealtime: [SegmentParams, Realtime];
}

/** A question that can be polled. */
export type Question = keyof Questions;

/** A question that can be streamed: every one about an app. */
export type LiveQuestion = Exclude<Question, 'listApps'>;

/** A list that can be downloaded. */
export type ListQuestion =
  | 'listPageviews'
  | 'listEvents'
  | 'listTimeSpent'
  | 'listUserGrowth'
  | 'listLocations'
  | 'listUtmCampaigns'
  | 'listBreakdown';

/** The parameters of a question. */
export type Params<Q extends Question> = Questions[Q][0];

/** The answer to a question. It belongs to the caller, who may change it: the client keeps nothing of it. */
export type Data<Q extends Question> = Questions[Q][1];

/** The format of a downloaded list. */
export type Format = 'csv' | 'ndjson' | 'parquet' | 'arrow';

export interface Result<T> {
  readonly data: T;
  /** Null only for a POST. */
  readonly etag: string | null;
  /** True after a 304: `data` equals that of the answer before. */
  readonly notModified: boolean;
  /** Null if a proxy on the way removed the headers. */
  readonly rateLimit: RateLimit | null;
  /**
   * When the newest of the app's events was stored. Null without events, and for answers that are not about
   * an app.
   */
  readonly dataAsOf: Date | null;
  /** The answer's age, if `maxStaleSeconds` was given and the answer was computed before; otherwise null. */
  readonly ageSeconds: number | null;
}

/** An answer of a stream. */
export interface LiveAnswer<T> {
  readonly data: T;
  readonly etag: string;
}

/** A repetition of a call, told before the wait for it. */
export interface Retry {
  /** The number of the next attempt: 2 after the first failure. */
  readonly attempt: number;
  readonly waitMs: number;
  /** The failure of the attempt before. */
  readonly error: ClientError;
}

/** Limits of a call. A call's own come before those of the client. */
export interface Limits {
  /** The longest time of one attempt, in ms; 60,000 by default. A download's begins again with each piece. */
  readonly timeoutMs?: number | undefined;
  /** Attempts after the first; 4 by default. */
  readonly maxRetries?: number | undefined;
  /** The longest wait of a call between all its attempts, in ms; 120,000 by default. */
  readonly maxWaitMs?: number | undefined;
  /** Called before each wait for another attempt. What it throws, the call throws. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

export interface CreateOptions extends Limits {
  /** Aborts the request and the waits between attempts; the call rejects with AbortError. */
  readonly signal?: AbortSignal | undefined;
}

export interface CallOptions extends CreateOptions {
  /** Accepts an answer that is at most this old, 0 to 3,600, although newer events are stored. */
  readonly maxStaleSeconds?: number | undefined;
}

export interface DownloadOptions extends CallOptions {
  readonly format: Format;
}

/** Whether `live` or `poll` has a connection to the service. */
export type Connection =
  | { readonly isConnected: true }
  | {
      readonly isConnected: false;
      /** When the first attempt failed. */
      readonly since: Date;
      /** Failed attempts since then. */
      readonly failures: number;
      /** The latest failure. */
      readonly error: ClientError;
      /** The time until the next attempt. */
      readonly waitMs: number;
    };

export interface StreamOptions {
  /** Ends the answers, quietly. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time of one attempt, in ms; the client's, or 60,000, by default. */
  readonly timeoutMs?: number | undefined;
  /**
   * Called when there is a connection, at first and again; and after each failed attempt. What it throws ends the
   * answers.
   */
  readonly onConnection?: ((connection: Connection) => void) | undefined;
  /** Throws the latest failure rather than being cut off for longer than this, in ms. Without it, goes on for ever. */
  readonly giveUpAfterMs?: number | undefined;
}

export interface PollOptions extends StreamOptions {
  /** The shortest interval; 1,000 by default. */
  readonly intervalMs?: number | undefined;
  /** Accepts answers that are at most this old, 0 to 3,600, although newer events are stored. */
  readonly maxStaleSeconds?: number | undefined;
}

export interface ClientOptions extends Limits {
  /** `https://analytics.example.com` */
  readonly baseUrl: string;
  /** An account's API key. Server-side only. */
  readonly apiKey: string;
  /** The global `fetch` by default. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

type Asks = {
  readonly [Q in Question]: NoParams extends Params<Q>
    ? (params?: Params<Q>, options?: CallOptions) => Promise<Result<Data<Q>>>
    : (params: Params<Q>, options?: CallOptions) => Promise<Result<Data<Q>>>;
};

/** All operations of the Public API. They reject with a ClientError. */
export interface Client extends Asks {
  /**
   * Creates an app. An attempt without an answer is repeated: the service creates at most one app for a domain. If an
   * earlier attempt may have created it, rejects with UnclearCreationError, which holds the app.
   */
  createApp(app: NewApp, options?: CreateOptions): Promise<Result<CreatedApp>>;
  /**
   * Downloads a list in a format for files, spreadsheets and data frames. The bytes are not cached. Rejects with
   * AnswerError if the service does not offer the format.
   */
  download<Q extends ListQuestion>(
    list: Q,
    params: Params<Q>,
    options: DownloadOptions,
  ): Promise<Result<Uint8Array>>;
  /**
   * Streams until `signal` is aborted: yields the answer now, and each one that differs, at most once a second. Goes on
   * through outages: connects again, from the last answer on. Throws an error that no retry could solve, such as that
   * of a revoked key.
   */
  live<Q extends LiveQuestion>(
    question: Q,
    params: Params<Q>,
    options?: StreamOptions,
  ): AsyncGenerator<LiveAnswer<Data<Q>>, void, void>;
  /**
   * Polls until `signal` is aborted, at the pace that the key's window allows. Yields the first answer and then each
   * answer that differs. Goes on through outages. Throws an error that no retry could solve.
   */
  poll<Q extends Question>(
    question: Q,
    params: Params<Q>,
    options?: PollOptions,
  ): AsyncGenerator<Result<Data<Q>>, void, void>;
}
