import { metaOf, parsed, resultOf } from './answer.ts';
import { createApp } from './create-app.ts';
import { InputError } from './errors.ts';
import { baseOf, checkKey, checkOptions, searchOf } from './input.ts';
import { liveAnswers } from './live.ts';
import { type Asked, changes } from './poll.ts';
import { type Attempt, type Call, createSend, type Send } from './send.ts';
import type { CallOptions, Client, ClientOptions, Format, Question, Result } from './types.ts';

/** The path of each question. */
export const PATHS: Readonly<Record<Question, string>> = {
  listApps: '/api/v1/apps',
  getDataBounds: '/api/v1/sessions/data-bounds',
  getExtendedOverview: '/api/v1/sessions/overview/extended',
  getOverviewKpis: '/api/v1/sessions/overview/kpis',
  listPageviews: '/api/v1/sessions/pageviews',
  listTimeSpent: '/api/v1/sessions/timespent',
  listEvents: '/api/v1/sessions/events',
  listUserGrowth: '/api/v1/sessions/user-growth',
  getTrafficHeatmap: '/api/v1/sessions/traffic-heatmap',
  getAudienceActivity: '/api/v1/sessions/traffic-audience-activity',
  listLocations: '/api/v1/sessions/locations/all',
  listUtmCampaigns: '/api/v1/growth/utm',
  getSeries: '/api/v1/sessions/series',
  listBreakdown: '/api/v1/sessions/breakdown',
  getRealtime: '/api/v1/sessions/realtime',
};

const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
};
const EVENT_STREAM = 'text/event-stream';

/** The number of cached answers, least recently used evicted first. An unchanged one is not sent again. */
const KEPT_ANSWERS = 200;

const isList = (question: Question): boolean => question.startsWith('list');

/** Creates a client of one account. Throws InputError if an option is invalid. */
export function createClient(options: ClientOptions): Client {
  checkOptions('createClient', options);
  checkKey(options.apiKey);
  const base = baseOf(options.baseUrl);
  const send = createSend(options);
  const kept = new Kept(KEPT_ANSWERS);
  const urlOf = (question: Question, params: object = {}): string => {
    if (!Object.hasOwn(PATHS, question)) throw new InputError(`${String(question)} is no question.`);
    return `${base}${PATHS[question]}${searchOf(params)}`;
  };
  const ask =
    (question: Question) =>
    async (params = {}, own: CallOptions = {}): Promise<Result<unknown>> => {
      checkOptions('a question', own);
      const asked = await askKept(send, kept, { ...own, url: urlOf(question, params) }, isList(question));
      return asked.result();
    };
  const asks = Object.fromEntries(
    (Object.keys(PATHS) as Question[]).map((question) => [question, ask(question)]),
  ) as unknown as Pick<Client, Question>;
  return {
    ...asks,
    createApp: async (app, own = {}) => {
      checkOptions('createApp', own);
      return createApp(send, urlOf('listApps'), app, { ...own, onRetry: own.onRetry ?? options.onRetry });
    },
    download: async (list, params, options) => {
      checkOptions('download', options);
      const { format, ...own } = options;
      const url = urlOf(list, params);
      if (!Object.hasOwn(MEDIA_TYPES, format)) throw new InputError(`${String(format)} is no format.`);
      return send({ ...own, url, accept: MEDIA_TYPES[format] }, async (response, attempt) =>
        resultOf(response.headers, await bytesOf(response, attempt)),
      );
    },
    live: (question: Question, params, own = {}) => {
      checkOptions('live', own);
      if (question === 'listApps') throw new InputError('listApps has no stream.');
      const call = {
        url: urlOf(question, params),
        accept: EVENT_STREAM,
        timeoutMs: own.timeoutMs,
        maxRetries: 0,
      };
      const connect = (lastEventId: string | undefined, signal: AbortSignal): Promise<Response> =>
        send({ ...call, lastEventId, signal }, async (response) => response);
      return liveAnswers(connect, isList(question), own);
    },
    poll: (question, params, own = {}) => {
      checkOptions('poll', own);
      const url = urlOf(question, params);
      const { timeoutMs, maxStaleSeconds } = own;
      const call = { url, timeoutMs, maxStaleSeconds, maxRetries: 0 };
      return changes((signal) => askKept(send, kept, { ...call, signal }, isList(question)), own);
    },
  };
}

/** Asks with the tag of the answer before, if there is one. */
async function askKept<T>(send: Send, kept: Kept, call: Call, isList: boolean): Promise<Asked<T>> {
  const known = kept.get(call.url);
  return send({ ...call, etag: known?.etag }, async (response, attempt) => {
    const { status, headers } = response;
    if (status === 304 && known !== undefined) {
      // A value of its own for each caller, who may change it.
      return {
        ...metaOf(headers),
        result: () => resultOf(headers, parsed<T>(status, known.text, isList), true),
      };
    }
    const text = await attempt.within(response.text());
    const data = parsed<T>(status, text, isList);
    const etag = headers.get('ETag');
    if (etag !== null) kept.set(call.url, { etag, text });
    return { ...metaOf(headers), result: () => resultOf(headers, data) };
  });
}

/** Reads the answer by pieces: as long as some come, it is not late. */
async function bytesOf({ body }: Response, attempt: Attempt): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const reader = body?.getReader();
  try {
    for (;;) {
      const { value, done } = (await (reader && attempt.within(reader.read()))) ?? { done: true };
      if (done || value === undefined) return joined(pieces);
      pieces.push(value);
      attempt.restart();
    }
  } finally {
    // Closes the connection of a download that was given up.
    void reader?.cancel().catch(() => undefined);
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

interface Answered {
  readonly etag: string;
  /** In JSON. */
  readonly text: string;
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
