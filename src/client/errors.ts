import type { RateLimit } from './types.ts';

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

/** An error answer of the service. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
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

/** The service could not be reached, or the connection broke. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  constructor(cause: unknown) {
    super('The service cannot be reached.', { cause });
  }
}

export const isLimited = (error: unknown): boolean => error instanceof ApiError && error.status === 429;

/** True if the service is away, or too busy. */
export const isAway = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof ApiError && [502, 503, 504].includes(error.status));
