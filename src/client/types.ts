import type {
  AppSummary,
  AudienceActivity,
  CreatedApp,
  DataBounds,
  ExtendedOverview,
  KpiComparison,
  Location,
  NewApp,
  PageView,
  TimeSpent,
  TrafficHeatmap,
  UserGrowthPoint,
  UtmCampaign,
} from './answers.ts';

/** An instant: ISO 8601 with an offset or `Z`, or a Date. */
export type Instant = string | Date;

export interface AppParams {
  /** The app, as `listApps` names it. */
  readonly appId: string;
}

/** Without a bound the range is unbounded on its side. Both are inclusive. */
export interface RangeParams extends AppParams {
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
}

export interface ListParams extends RangeParams {
  /** Cuts the list after ordering: 1 to 10,000. */
  readonly limit?: number | undefined;
}

export type NoParams = Readonly<Record<string, never>>;

/** The parameters and the answer of each question. */
interface Questions {
  listApps: [NoParams, readonly AppSummary[]];
  getDataBounds: [AppParams, DataBounds];
  getExtendedOverview: [RangeParams, ExtendedOverview];
  getOverviewKpis: [RangeParams, KpiComparison];
  listPageviews: [ListParams, readonly PageView[]];
  listTimeSpent: [ListParams, readonly TimeSpent[]];
  listUserGrowth: [RangeParams, readonly UserGrowthPoint[]];
  getTrafficHeatmap: [AppParams, TrafficHeatmap];
  getAudienceActivity: [AppParams, AudienceActivity];
  listLocations: [ListParams, readonly Location[]];
  listUtmCampaigns: [RangeParams, readonly UtmCampaign[]];
}

/** A question that can be polled. */
export type Question = keyof Questions;

/** A question that can be streamed: every one about an app. */
export type LiveQuestion = Exclude<Question, 'listApps'>;

/** A list that can be downloaded. */
export type ListQuestion =
  | 'listPageviews'
  | 'listTimeSpent'
  | 'listUserGrowth'
  | 'listLocations'
  | 'listUtmCampaigns';

/** The parameters of a question. */
export type Params<Q extends Question> = Questions[Q][0];

/** The answer to a question. Read-only, because it is cached. */
export type Data<Q extends Question> = Questions[Q][1];

/** The format of a downloaded list. */
export type Format = 'csv' | 'ndjson' | 'parquet' | 'arrow';

/** The key's rate-limit window in the last answer. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends. */
  readonly resetSeconds: number;
}

export interface Result<T> {
  readonly data: T;
  /** Null only for a POST. */
  readonly etag: string | null;
  /** True after a 304: `data` is the same object as before. */
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

export interface CallOptions {
  /** Aborts the request and the waits between attempts; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Accepts an answer that is at most this old, 0 to 3,600, although newer events are stored. */
  readonly maxStaleSeconds?: number | undefined;
}

export interface DownloadOptions extends CallOptions {
  readonly format: Format;
}

export interface PollOptions extends CallOptions {
  /** The shortest interval; 1,000 by default. */
  readonly intervalMs?: number | undefined;
}

export interface ClientOptions {
  /** `https://analytics.example.com` */
  readonly baseUrl: string;
  /** An account's API key. Server-side only. */
  readonly apiKey: string;
  /** The global `fetch` by default. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Attempts after the first; 4 by default. */
  readonly maxRetries?: number | undefined;
  /** The longest wait of a call between all its attempts, in ms; 120,000 by default. */
  readonly maxWaitMs?: number | undefined;
}

type Asks = {
  readonly [Q in Question]: NoParams extends Params<Q>
    ? (params?: Params<Q>, options?: CallOptions) => Promise<Result<Data<Q>>>
    : (params: Params<Q>, options?: CallOptions) => Promise<Result<Data<Q>>>;
};

/** All operations of the Public API. They reject with ApiError or ConnectionError. */
export interface Client extends Asks {
  createApp(app: NewApp, options?: Pick<CallOptions, 'signal'>): Promise<Result<CreatedApp>>;
  /**
   * Downloads a list in a format for files, spreadsheets and data frames. The bytes are not cached. Rejects if the
   * service does not offer the format.
   */
  download<Q extends ListQuestion>(
    list: Q,
    params: Params<Q>,
    options: DownloadOptions,
  ): Promise<Result<Uint8Array>>;
  /**
   * Streams until `signal` is aborted: yields the answer now, and each one that differs, at most once a second.
   * Connects again after a lost connection, from the last answer on. Ends quietly on abort. Throws an error that no
   * retry could solve, such as that of a revoked key.
   */
  live<Q extends LiveQuestion>(
    question: Q,
    params: Params<Q>,
    options?: Pick<CallOptions, 'signal'>,
  ): AsyncGenerator<LiveAnswer<Data<Q>>, void, void>;
  /**
   * Polls until `signal` is aborted, at the pace that the key's window allows. Yields the first answer and
   * then each answer that differs. Ends quietly on abort. Throws an error that no retry could solve.
   */
  poll<Q extends Question>(
    question: Q,
    params: Params<Q>,
    options?: PollOptions,
  ): AsyncGenerator<Result<Data<Q>>, void, void>;
}
