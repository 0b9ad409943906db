import type { RateLimit } from './answers.ts';
import { AnswerError, ApiError, type ProblemFields } from './errors.ts';
import type { Result } from './types.ts';

/** A header that holds a date has a time of day. */
const TIME_OF_DAY = /\d{2}:\d{2}:\d{2}/;

/** What an answer has to be. */
export interface Expected {
  readonly status: number;
  /** The media type. */
  readonly type: string;
}

/** Throws AnswerError unless the answer is what was expected, and ApiError if the service refuses. */
export async function checkAnswer(response: Response, { status, type }: Expected): Promise<void> {
  if (response.status >= 400) throw await apiErrorOf(response);
  const wrong = wrongIn(response, status, type);
  if (wrong === null) return;
  // Otherwise the connection stays open.
  await response.body?.cancel().catch(() => undefined);
  throw new AnswerError(response.status, wrong);
}

function wrongIn({ status, headers, type: kind }: Response, expected: number, type: string): string | null {
  if (kind === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)) {
    return `The service answered with a redirect${targetOf(headers)}. Is that the right baseUrl?`;
  }
  if (status !== expected) return `The service answered with the status ${status} and not with ${expected}.`;
  if (status === 304) return null;
  const given = headers.get('Content-Type') ?? 'nothing';
  return given.toLowerCase().startsWith(type)
    ? null
    : `The service answered with ${given} and not with ${type}.`;
}

/** Without the query, which may hold something secret. */
const targetOf = (headers: Headers): string => {
  const target = headers.get('Location')?.split(/[?#]/)[0];
  return target === undefined ? '' : ` to ${target}`;
};

/** Parses the answer. Throws AnswerError unless it is JSON, and a list or an object as expected. */
export function parsed<T>(status: number, text: string, isList: boolean): T {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new AnswerError(status, 'The service answered with JSON that is broken.', error);
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data) !== isList) {
    throw new AnswerError(status, `The service answered with JSON that is no ${isList ? 'list' : 'object'}.`);
  }
  return data as T;
}

/** What paces a poll. */
export const metaOf = (headers: Headers): Pick<Result<unknown>, 'etag' | 'rateLimit'> => ({
  etag: headers.get('ETag'),
  rateLimit: rateLimitOf(headers),
});

export function resultOf<T>(headers: Headers, data: T, notModified = false): Result<T> {
  const asOf = new Date(headers.get('X-Data-As-Of') ?? Number.NaN);
  return {
    ...metaOf(headers),
    data,
    notModified,
    dataAsOf: Number.isNaN(asOf.getTime()) ? null : asOf,
    ageSeconds: numberIn(headers, 'Age'),
  };
}

async function apiErrorOf(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const isProblem = headers.get('Content-Type')?.startsWith('application/problem+json') === true;
  // The status counts, also if the body breaks off.
  const text = await response.text().catch(() => '');
  return new ApiError(status, isProblem ? problemOf(text) : {}, {
    retryAfterSeconds: retryAfterOf(headers),
    rateLimit: rateLimitOf(headers),
  });
}

/** Takes the fields that have the right type. */
function problemOf(text: string): ProblemFields {
  let given: Partial<Record<keyof ProblemFields, unknown>>;
  try {
    given = Object(JSON.parse(text));
  } catch {
    return {};
  }
  const { code, detail, requestId, errors, nearest } = given;
  return {
    ...(typeof code === 'string' ? { code: code as NonNullable<ProblemFields['code']> } : {}),
    ...(typeof detail === 'string' ? { detail } : {}),
    ...(typeof requestId === 'string' ? { requestId } : {}),
    ...(Array.isArray(errors) ? { errors } : {}),
    ...(typeof nearest === 'object' && nearest !== null
      ? { nearest: nearest as NonNullable<ProblemFields['nearest']> }
      : {}),
  };
}

/** Seconds, or a date by the clock of the service. */
function retryAfterOf(headers: Headers): number | null {
  const seconds = numberIn(headers, 'Retry-After');
  if (seconds !== null) return seconds;
  const at = dateIn(headers, 'Retry-After');
  return at === null ? null : Math.max(0, Math.ceil((at - (dateIn(headers, 'Date') ?? Date.now())) / 1000));
}

/** In ms since 1970; null without a date. */
function dateIn(headers: Headers, name: string): number | null {
  const text = headers.get(name) ?? '';
  const at = TIME_OF_DAY.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

function rateLimitOf(headers: Headers): RateLimit | null {
  const limit = numberIn(headers, 'X-RateLimit-Limit');
  const remaining = numberIn(headers, 'X-RateLimit-Remaining');
  const resetSeconds = numberIn(headers, 'X-RateLimit-Reset');
  return limit === null || remaining === null || resetSeconds === null
    ? null
    : { limit, remaining, resetSeconds };
}

function numberIn(headers: Headers, name: string): number | null {
  const text = headers.get(name) ?? '';
  return /^\d+$/.test(text) ? Number(text) : null;
}
