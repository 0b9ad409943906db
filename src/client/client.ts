import type { CreatedApp } from './answers.ts';
import { liveAnswers } from './live.ts';
import { changes } from './poll.ts';
import { type Call, createSend, numberIn, rateLimitOf, type Send, WrongType } from './send.ts';
import type { CallOptions, Client, ClientOptions, Data, Format, Params, Question, Result } from './types.ts';

/** The path of each question. */
export const PATHS: Readonly<Record<Question, string>> = {
  listApps: '/api/v1/apps',
  getDataBounds: '/api/v1/sessions/data-bounds',
  getExtendedOverview: '/api/v1/sessions/overview/extended',
  getOverviewKpis: '/api/v1/sessions/overview/kpis',
  listPageviews: '/api/v1/sessions/pageviews',
  listTimeSpent: '/api/v1/sessions/timespent',
  listUserGrowth: '/api/v1/sessions/user-growth',
  getTrafficHeatmap: '/api/v1/sessions/traffic-heatmap',
  getAudienceActivity: '/api/v1/sessions/traffic-audience-activity',
  listLocations: '/api/v1/sessions/locations/all',
  listUtmCampaigns: '/api/v1/growth/utm',
};

const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
};

/** The number of cached answers, least recently used evicted first. An unchanged one is not sent again. */
const KEPT_ANSWERS = 200;

/** Creates a client of one account. Throws if the options are invalid. */
export function createClient(options: ClientOptions): Client {
  const base = new URL(options.baseUrl).href.replace(/\/+$/, '');
  const send = createSend(options);
  const kept = new Kept(KEPT_ANSWERS);
  const urlOf = (question: Question, params: object): string =>
    `${base}${PATHS[question]}${searchOf(params)}`;
  const ask = <Q extends Question>(
    question: Q,
    params: Params<Q>,
    options: CallOptions,
  ): Promise<Result<Data<Q>>> => askKept<Data<Q>>(send, kept, { ...options, url: urlOf(question, params) });
  const asks = Object.fromEntries(
    (Object.keys(PATHS) as Question[]).map((question) => [
      question,
      (params: Params<Question> = {} as Params<Question>, options: CallOptions = {}) =>
        ask(question, params, options),
    ]),
  ) as unknown as Pick<Client, Question>;
  return {
    ...asks,
    createApp: async (body, options = {}) => {
      return send({ ...options, url: urlOf('listApps', {}), body }, async (response) =>
        resultOf(response, (await response.json()) as CreatedApp, false),
      );
    },
    download: async (list, params, { format, ...options }) => {
      const accept = MEDIA_TYPES[format];
      return send({ ...options, url: urlOf(list, params), accept, isStream: true }, async (response) => {
        assertType(response, accept);
        return resultOf(response, new Uint8Array(await response.arrayBuffer()), false);
      });
    },
    live: (question, params, { signal } = {}) => {
      const accept = 'text/event-stream';
      const stream = { url: urlOf(question, params), accept, isStream: true };
      return liveAnswers(
        (lastEventId, signal) =>
          send({ ...stream, lastEventId, signal }, async (response) => {
            assertType(response, accept);
            return response;
          }),
        signal,
      );
    },
    poll: (question, params, pollOptions = {}) =>
      changes(() => ask(question, params, pollOptions), pollOptions),
  };
}

function assertType(response: Response, accept: string): void {
  const type = response.headers.get('Content-Type') ?? 'nothing';
  if (!type.startsWith(accept))
    throw new WrongType(`The service answered with ${type} and not with ${accept}.`);
}

async function askKept<T>(send: Send, kept: Kept, call: Call): Promise<Result<T>> {
  const known = kept.get(call.url);
  return send({ ...call, etag: known?.etag }, async (response) => {
    if (response.status === 304 && known !== undefined) return resultOf(response, known.data as T, true);
    const data = (await response.json()) as T;
    const etag = response.headers.get('ETag');
    if (etag !== null) kept.set(call.url, { etag, data });
    return resultOf(response, data, false);
  });
}

function resultOf<T>({ headers }: Response, data: T, notModified: boolean): Result<T> {
  const asOf = headers.get('X-Data-As-Of');
  return {
    data,
    etag: headers.get('ETag'),
    notModified,
    rateLimit: rateLimitOf(headers),
    dataAsOf: asOf === null ? null : new Date(asOf),
    ageSeconds: numberIn(headers, 'Age'),
  };
}

/** Sorts the parameters, so that equal questions have one URL. */
function searchOf(params: object): string {
  const given = Object.entries(params)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string] => [
      name,
      value instanceof Date ? value.toISOString() : String(value),
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

interface Answered {
  readonly etag: string;
  readonly data: unknown;
}

class Kept {
  readonly #max: number;
  readonly #answers = new Map<string, Answered>();

  constructor(max: number) {
    this.#max = max;
  }

  get(url: string): Answered | undefined {
    const answer = this.#answers.get(url);
    if (answer !== undefined) this.set(url, answer);
    return answer;
  }

  /** Stores the answer as the most recent one. */
  set(url: string, answer: Answered): void {
    this.#answers.delete(url);
    this.#answers.set(url, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > this.#max && oldest !== undefined) this.#answers.delete(oldest);
  }
}
