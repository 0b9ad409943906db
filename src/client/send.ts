import { ApiError, ConnectionError, isAway, isLimited, type ProblemFields } from './errors.ts';
import type { CallOptions, ClientOptions, RateLimit } from './types.ts';
import { wait } from './wait.ts';

const MAX_RETRIES = 4;
const MAX_WAIT_MS = 120_000;
/** The pause before the second attempt, unless the service names one. Doubled before each further attempt. */
const FIRST_BACKOFF_MS = 500;
/** Longer than the service works on any question. */
const ATTEMPT_MS = 60_000;

export interface Call extends CallOptions {
  readonly url: string;
  readonly etag?: string | undefined;
  /** The media type of the answer; JSON by default. */
  readonly accept?: string;
  /** True for an event stream and a large list: the time limit ends with the headers. */
  readonly isStream?: boolean;
  readonly lastEventId?: string | undefined;
  /** The body of a POST. It is not sent again if the first attempt may have succeeded. */
  readonly body?: unknown;
}

/** Sends a request, and repeats it if that can help. Resolves to the result of `read` for a 2xx or 304. */
export type Send = <T>(call: Call, read: (response: Response) => Promise<T>) => Promise<T>;

export function createSend(options: ClientOptions): Send {
  const { apiKey, maxRetries = MAX_RETRIES, maxWaitMs = MAX_WAIT_MS } = options;
  // Checked here, because fetch would complain about the header and print it.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('apiKey is no API key');
  const ask = options.fetch ?? globalThis.fetch;
  return async <T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> => {
    let waited = 0;
    for (let attempt = 0; ; attempt++) {
      const { failure, value } = await attemptOnce(ask, apiKey, call, read);
      if (failure === undefined) return value as T;
      const pause = pauseAfter(failure, attempt, call);
      if (pause === null || attempt >= maxRetries || waited + pause > maxWaitMs) throw failure;
      waited += pause;
      await wait(pause, call.signal);
    }
  };
}

interface Outcome<T> {
  readonly failure?: ApiError | ConnectionError;
  readonly value?: T;
}

async function attemptOnce<T>(
  ask: typeof globalThis.fetch,
  apiKey: string,
  { url, etag, accept = 'application/json', isStream, lastEventId, body, signal, maxStaleSeconds }: Call,
  read: (response: Response) => Promise<T>,
): Promise<Outcome<T>> {
  const limit = new AbortController();
  let isOpen = false;
  AbortSignal.timeout(ATTEMPT_MS).addEventListener('abort', () => {
    if (!isOpen) limit.abort();
  });
  try {
    const response = await ask(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        Accept: accept,
        Authorization: `Bearer ${apiKey}`,
        ...(etag === undefined ? {} : { 'If-None-Match': etag }),
        ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
        ...(maxStaleSeconds === undefined ? {} : { 'Cache-Control': `max-stale=${maxStaleSeconds}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      redirect: 'error',
      signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    isOpen = isStream === true;
    if (response.ok || response.status === 304) return { value: await read(response) };
    const failure = new ApiError(response.status, await problemOf(response), {
      retryAfterSeconds: numberIn(response.headers, 'Retry-After'),
      rateLimit: rateLimitOf(response.headers),
    });
    return { failure };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    // The answer is there, and is of another kind than the caller asked for.
    if (error instanceof SyntaxError || error instanceof WrongType) throw error;
    return { failure: new ConnectionError(error) };
  }
}

/** The service answered with another type, as one that does not know the type that was asked for. */
export class WrongType extends Error {}

/** The pause before the next attempt; null if no attempt can help. */
function pauseAfter(error: ApiError | ConnectionError, attempt: number, { body }: Call): number | null {
  if (!isLimited(error) && (!isAway(error) || body !== undefined)) return null;
  // Random between half and the whole, so that clients do not retry all at once.
  const backoff = FIRST_BACKOFF_MS * 2 ** attempt * (0.5 + Math.random() / 2);
  const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  return asked + backoff;
}

async function problemOf(response: Response): Promise<ProblemFields> {
  const isProblem = response.headers.get('Content-Type')?.startsWith('application/problem+json');
  const text = await response.text();
  try {
    return isProblem ? (JSON.parse(text) as ProblemFields) : {};
  } catch {
    return {};
  }
}

export function rateLimitOf(headers: Headers): RateLimit | null {
  const limit = numberIn(headers, 'X-RateLimit-Limit');
  const remaining = numberIn(headers, 'X-RateLimit-Remaining');
  const resetSeconds = numberIn(headers, 'X-RateLimit-Reset');
  return limit === null || remaining === null || resetSeconds === null
    ? null
    : { limit, remaining, resetSeconds };
}

export function numberIn(headers: Headers, name: string): number | null {
  const text = headers.get(name) ?? '';
  return /^\d+$/.test(text) ? Number(text) : null;
}
