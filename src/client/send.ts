import { onAbort, unlessAborted, wait } from './abort.ts';
import { checkAnswer, type Expected } from './answer.ts';
import { AbortError, ApiError, ClientError, ConnectionError, mayPass, TimeoutError } from './errors.ts';
import type { CallOptions, ClientOptions } from './types.ts';
import { VERSION } from './version.ts';

const JSON_TYPE = 'application/json';
const MAX_RETRIES = 4;
const MAX_WAIT_MS = 120_000;
/** Longer than the service works on any question. */
const TIMEOUT_MS = 60_000;
/** The pause before the second attempt, unless the service names one. Doubled before each further attempt. */
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

export interface Call extends CallOptions {
  readonly url: string;
  readonly etag?: string | undefined;
  /** The media type of the answer; JSON by default. */
  readonly accept?: string;
  readonly lastEventId?: string | undefined;
  /** The body of a POST, in JSON. Its answer has the status 201. */
  readonly body?: string;
}

/** Reads the answer of an attempt. The time limit goes on meanwhile, unless it begins again. */
export type Read<T> = (response: Response, attempt: Attempt) => Promise<T>;

/** Sends a request, and repeats it if that can help. Resolves to the result of `read`. Rejects with a ClientError. */
export type Send = <T>(call: Call, read: Read<T>) => Promise<T>;

export function createSend({ apiKey, fetch, ...defaults }: ClientOptions): Send {
  return async <T>(call: Call, read: Read<T>): Promise<T> => {
    const timeoutMs = call.timeoutMs ?? defaults.timeoutMs ?? TIMEOUT_MS;
    const maxRetries = call.maxRetries ?? defaults.maxRetries ?? MAX_RETRIES;
    const maxWaitMs = call.maxWaitMs ?? defaults.maxWaitMs ?? MAX_WAIT_MS;
    const onRetry = call.onRetry ?? defaults.onRetry;
    const { signal, end } = callerOf(call.signal);
    let waited = 0;
    try {
      for (let failures = 0; ; failures++) {
        const attempt = new Attempt(timeoutMs, signal);
        const { value, error } = await outcomeOf(attempt, async () => {
          const ask = fetch ?? globalThis.fetch;
          const response = await attempt.within(
            ask(call.url, { ...initOf(apiKey, call), signal: attempt.signal }),
          );
          await attempt.within(checkAnswer(response, expectedOf(call, response)));
          return read(response, attempt);
        });
        if (error === undefined) return value as T;
        const waitMs = pauseAfter(error, failures);
        if (!mayPass(error) || failures >= maxRetries || waited + waitMs > maxWaitMs) throw error;
        onRetry?.({ attempt: failures + 2, waitMs, error });
        waited += waitMs;
        await wait(waitMs, signal);
      }
    } finally {
      end();
    }
  };
}

/** The caller's signal, with a typed reason. */
function callerOf(signal: AbortSignal | undefined): {
  readonly signal: AbortSignal;
  readonly end: () => void;
} {
  const caller = new AbortController();
  const forget = signal && onAbort(signal, () => caller.abort(new AbortError(signal.reason)));
  return { signal: caller.signal, end: () => forget?.() };
}

/** The pause before the next attempt. */
export function pauseAfter(error: ClientError, failures: number): number {
  // Random between half and the whole, so that clients do not retry all at once.
  const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** failures, LONGEST_BACKOFF_MS) * (0.5 + Math.random() / 2);
  const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  return asked + backoff;
}

function initOf(
  apiKey: string,
  { etag, accept = JSON_TYPE, lastEventId, body, maxStaleSeconds }: Call,
): RequestInit {
  return {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Accept: accept,
      Authorization: `Bearer ${apiKey}`,
      'User-Agent': `session-analytics-client/${VERSION}`,
      ...(etag === undefined ? {} : { 'If-None-Match': etag }),
      ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
      ...(maxStaleSeconds === undefined ? {} : { 'Cache-Control': `max-stale=${maxStaleSeconds}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    // Not followed: the key would go to another place.
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  };
}

/** A conditional request may also be answered with 304. */
const expectedOf = ({ etag, accept = JSON_TYPE, body }: Call, { status }: Response): Expected => {
  if (status === 304 && etag !== undefined) return { status, type: accept };
  return { status: body === undefined ? 200 : 201, type: accept };
};

interface Outcome<T> {
  readonly value?: T;
  readonly error?: ClientError;
}

async function outcomeOf<T>(attempt: Attempt, work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    attempt.signal.throwIfAborted();
    return { value: await work() };
  } catch (error) {
    if (attempt.signal.aborted) return { error: attempt.signal.reason };
    return { error: error instanceof ClientError ? error : new ConnectionError(error) };
  } finally {
    attempt.end();
  }
}

/** One attempt, which ends at its time limit or when the caller aborts it. */
export class Attempt {
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #forget: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(timeoutMs: number, caller: AbortSignal) {
    this.#timeoutMs = timeoutMs;
    this.#forget = onAbort(caller, () => this.#controller.abort(caller.reason));
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Settles as `work` does, or rejects at the end of the attempt: a `fetch` that was given may ignore the signal. */
  within<T>(work: Promise<T>): Promise<T> {
    return unlessAborted(work, this.signal);
  }

  /** Begins the time limit again. */
  restart(): void {
    clearTimeout(this.#timer);
    const late = (): void => this.#controller.abort(new TimeoutError(this.#timeoutMs));
    this.#timer = setTimeout(late, this.#timeoutMs);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#forget();
  }
}
