import type { AppSummary, RateLimit } from './answers.ts';

/** The code of a failure. A test compares the list with the service's own. */
export type ErrorCode =
  | 'bad_request'
  | 'validation_failed'
  | 'beyond_retention'
  | 'unauthorized'
  | 'too_many_invalid_attempts'
  | 'app_access_denied'
  | 'plan_blocked'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'domain_conflict'
  | 'payload_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal'
  | 'overloaded'
  | 'store_unavailable';

export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** Bounds that a question can use; null for one that is to be left out. */
export interface Nearest {
  readonly from: string | null;
  readonly to: string | null;
}

/** The service's problem details, as far as they can be parsed. */
export interface ProblemFields {
  readonly code?: ErrorCode;
  readonly detail?: string;
  readonly requestId?: string;
  readonly errors?: readonly FieldError[];
  readonly nearest?: Nearest;
}

/** Every failure of the client is one of its subclasses. */
export abstract class ClientError extends Error {}

/** An error answer of the service, or of a proxy on the way. */
export class ApiError extends ClientError {
  override readonly name: string = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** Null if a proxy on the way answered instead of the service. */
  readonly code: ErrorCode | null;
  readonly detail: string;
  /** Quote it when asking for help. */
  readonly requestId: string | null;
  /** The errors field by field, with `validation_failed`. */
  readonly errors: readonly FieldError[];
  /** With `beyond_retention`: the nearest range that has an exact answer. */
  readonly nearest: Nearest | null;
  readonly retryAfterSeconds: number | null;
  readonly rateLimit: RateLimit | null;

  constructor(
    status: number,
    { code, detail, requestId, errors = [], nearest }: ProblemFields,
    headers: { readonly retryAfterSeconds: number | null; readonly rateLimit: RateLimit | null },
  ) {
    const fields = errors.map(({ field, message }) => ` ${field}: ${message}`).join('');
    super(`${status} ${code ?? 'unknown'}: ${detail ?? 'no reason was given'}${fields}`);
    this.status = status;
    this.code = code ?? null;
    this.detail = detail ?? '';
    this.requestId = requestId ?? null;
    this.errors = errors;
    this.nearest = nearest ?? null;
    this.retryAfterSeconds = headers.retryAfterSeconds;
    this.rateLimit = headers.rateLimit;
  }
}

/**
 * The domain has an app, and it may be the one of this call: an earlier attempt got no answer. The secret key of that
 * app was in the lost answer. Make a new one in the console or with `admin app rotate-secret`.
 */
export class UnclearCreationError extends ApiError {
  override readonly name = 'UnclearCreationError';
  /** The account's app of that domain; null if it could not be looked up. */
  readonly app: AppSummary | null;

  constructor(conflict: ApiError, app: AppSummary | null) {
    super(conflict.status, problemFieldsOf(conflict), conflict);
    this.cause = conflict;
    this.app = app;
  }
}

const problemFieldsOf = ({ code, detail, requestId, errors, nearest }: ApiError): ProblemFields => ({
  detail: `${detail} It may be the one of an earlier attempt, whose answer was lost.`,
  errors,
  ...(code === null ? {} : { code }),
  ...(requestId === null ? {} : { requestId }),
  ...(nearest === null ? {} : { nearest }),
});

/** The service could not be reached, or the connection broke. `cause` holds the reason. */
export class ConnectionError extends ClientError {
  override readonly name: string = 'ConnectionError';
  /** The code of the reason, such as `ECONNREFUSED` or `ENOTFOUND`; null if there is none. */
  readonly code: string | null;

  constructor(cause: unknown, message = 'The service cannot be reached, or the connection broke') {
    const code = codeOf(cause);
    super(`${message}${code === null ? '' : ` (${code})`}.`, { cause });
    this.code = code;
  }
}

/** `fetch` puts the reason into the cause of its error. Several addresses give several reasons. */
function codeOf(error: unknown): string | null {
  const { code, cause, errors } = Object(error) as { code?: unknown; cause?: unknown; errors?: unknown };
  if (typeof code === 'string') return code;
  if (cause !== undefined) return codeOf(cause);
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : null;
}

/** An attempt got no answer, or not all of it, within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';

  constructor(timeoutMs: number) {
    super(undefined, `The service did not answer within ${timeoutMs} ms`);
  }
}

/**
 * The answer is not one of this service: a page of a proxy with status 200, a redirect, another content type, broken
 * JSON.
 */
export class AnswerError extends ClientError {
  override readonly name = 'AnswerError';
  /** The HTTP status; 0 for a redirect in a browser. */
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

/** The caller aborted the call. `cause` is the signal's reason. */
export class AbortError extends ClientError {
  override readonly name = 'AbortError';

  constructor(cause: unknown) {
    super('The call was aborted.', { cause });
  }
}

/** An option or a parameter of which no request can be made. Nothing was sent. */
export class InputError extends ClientError {
  override readonly name = 'InputError';
}

/** True if the same request may succeed a little later. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ApiError && [408, 425, 429, 502, 503, 504].includes(error.status));

/** True if no later attempt can succeed, as long as the request is the same. */
export const isHopeless = (error: unknown): boolean =>
  !(error instanceof ClientError) ||
  error instanceof InputError ||
  error instanceof AbortError ||
  (error instanceof ApiError && error.status < 500 && !mayPass(error));
