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

/**
 * The service's own definitions, by operation. Only their types are used, so no code of the service gets into
 * a bundle.
 */
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

/** A question that can be polled. */
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

/** The answer to a question. Read-only, because it is cached. */
export type Data<Q extends Question> = Answer<z.output<Endpoints[Q]['response']>>;

export type NewApp = z.input<(typeof createApp)['body']>;
export type CreatedApp = Answer<z.output<(typeof createApp)['response']>>;

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
}

export interface CallOptions {
  /** Aborts the request and the waits between attempts; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface PollOptions extends CallOptions {
  /** The shortest interval; 1,000 by default. */
  readonly intervalMs?: number;
}

export interface ClientOptions {
  /** `https://analytics.example.com` */
  readonly baseUrl: string;
  /** An account's API key. Server-side only. */
  readonly apiKey: string;
  /** The global `fetch` by default. */
  readonly fetch?: typeof globalThis.fetch;
  /** Attempts after the first; 4 by default. */
  readonly maxRetries?: number;
  /** The longest wait of a call between all its attempts, in ms; 120,000 by default. */
  readonly maxWaitMs?: number;
}

type Asks = {
  readonly [Q in Question]: Record<string, never> extends Params<Q>
    ? (params?: Params<Q>, options?: CallOptions) => Promise<Result<Data<Q>>>
    : (params: Params<Q>, options?: CallOptions) => Promise<Result<Data<Q>>>;
};

/** All operations of the Public API. They reject with ApiError or ConnectionError. */
export interface Client extends Asks {
  createApp(app: NewApp, options?: CallOptions): Promise<Result<CreatedApp>>;
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
