import type { z } from 'zod';
import type { audienceActivity } from '../endpoints/audience-activity.ts';
import type { createApp } from '../endpoints/create-app.ts';
import type { dataBounds } from '../endpoints/data-bounds.ts';
import type { Answer } from '../endpoints/endpoint.ts';
import type { listApps } from '../endpoints/list-apps.ts';
import type { locations } from '../endpoints/locations.ts';
import type { overviewExtended } from '../endpoints/overview-extended.ts';
import type { overviewKpis } from '../endpoints/overview-kpis.ts';
import type { pageviews } from '../endpoints/pageviews.ts';
import type { timeSpent } from '../endpoints/time-spent.ts';
import type { trafficHeatmap } from '../endpoints/traffic-heatmap.ts';
import type { userGrowth } from '../endpoints/user-growth.ts';
import type { utm } from '../endpoints/utm.ts';

/** The service's own definitions, by operation. Only their types are used: nothing of the service gets into a bundle. */
interface Endpoints {
  listApps: typeof listApps;
  getDataBounds: typeof dataBounds;
  getExtendedOverview: typeof overviewExtended;
  getOverviewKpis: typeof overviewKpis;
  listPageviews: typeof pageviews;
  listTimeSpent: typeof timeSpent;
  listUserGrowth: typeof userGrowth;
  getTrafficHeatmap: typeof trafficHeatmap;
  getAudienceActivity: typeof audienceActivity;
  listLocations: typeof locations;
  listUtmCampaigns: typeof utm;
}

/** What can be asked, again and again. */
export type Question = keyof Endpoints;

/** An instant: ISO 8601 with an offset or `Z`, or a Date. */
type Instant = string | Date;

/** The parameters of a question. */
export type Params<Q extends Question> = {
  readonly [Name in keyof z.input<Endpoints[Q]['query']>]: Name extends 'from' | 'to'
    ? Instant | undefined
    : Name extends 'limit'
      ? number | undefined
      : string;
};

/** The answer to a question. It is kept for the next time it is asked, hence read only. */
export type Data<Q extends Question> = Answer<z.output<Endpoints[Q]['response']>>;

export type NewApp = z.input<(typeof createApp)['body']>;
export type CreatedApp = Answer<z.output<(typeof createApp)['response']>>;

/** The key's window as the last answer told it. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends. */
  readonly resetSeconds: number;
}

export interface Result<T> {
  readonly data: T;
  /** Null only for what is created. */
  readonly etag: string | null;
  /** The service said 304: `data` is the very object of the time before. */
  readonly notModified: boolean;
  /** Null where something on the way took the headers off. */
  readonly rateLimit: RateLimit | null;
  /** When the newest of the app's events was stored; null without any, and for what is not about an app. */
  readonly dataAsOf: Date | null;
}

export interface CallOptions {
  /** Aborts the request and the waits between attempts; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface PollOptions extends CallOptions {
  /** Never more often than this; 1,000 unless given. */
  readonly intervalMs?: number;
}

export interface ClientOptions {
  /** `https://analytics.example.com` */
  readonly baseUrl: string;
  /** An account's API key. Server-side only. */
  readonly apiKey: string;
  /** The global one unless given. */
  readonly fetch?: typeof globalThis.fetch;
  /** Attempts after the first: 4 unless given. */
  readonly maxRetries?: number;
  /** The longest that a call waits between all its attempts, in ms: 120,000 unless given. */
  readonly maxWaitMs?: number;
}

type Asks = {
  readonly [Q in Question]: Record<string, never> extends Params<Q>
    ? (params?: Params<Q>, options?: CallOptions) => Promise<Result<Data<Q>>>
    : (params: Params<Q>, options?: CallOptions) => Promise<Result<Data<Q>>>;
};

/** Every operation of the Public API. All reject with ApiError or ConnectionError. */
export interface Client extends Asks {
  createApp(app: NewApp, options?: CallOptions): Promise<Result<CreatedApp>>;
  /**
   * Asks until `signal` is aborted, at the pace that the key's window allows, and yields the first answer and then each
   * that differs. Ends quietly on abort; throws what no retry helped against.
   */
  poll<Q extends Question>(
    question: Q,
    params: Params<Q>,
    options?: PollOptions,
  ): AsyncGenerator<Result<Data<Q>>, void, void>;
}
