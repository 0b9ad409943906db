/**
 * Every code of an error body, with its HTTP status and title. The list is closed: any other error is a bug.
 */
export const ERROR_CODES = {
  bad_request: { status: 400, title: 'Bad Request' },
  validation_failed: { status: 400, title: 'Bad Request' },
  beyond_retention: { status: 400, title: 'Bad Request' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  too_many_invalid_attempts: { status: 401, title: 'Unauthorized' },
  app_access_denied: { status: 403, title: 'Forbidden' },
  plan_blocked: { status: 403, title: 'Forbidden' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not Found' },
  method_not_allowed: { status: 405, title: 'Method Not Allowed' },
  domain_conflict: { status: 409, title: 'Conflict' },
  payload_too_large: { status: 413, title: 'Content Too Large' },
  uri_too_long: { status: 414, title: 'URI Too Long' },
  unsupported_media_type: { status: 415, title: 'Unsupported Media Type' },
  rate_limited: { status: 429, title: 'Too Many Requests' },
  headers_too_large: { status: 431, title: 'Request Header Fields Too Large' },
  internal: { status: 500, title: 'Internal Server Error' },
  overloaded: { status: 503, title: 'Service Unavailable' },
  store_unavailable: { status: 503, title: 'Service Unavailable' },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** Bounds of a range that a request can use: ISO 8601 with an offset, null for one that is to be left out. */
export interface Nearest {
  readonly from: string | null;
  readonly to: string | null;
}

export interface AppErrorOptions {
  /** With `validation_failed` only. */
  readonly errors?: readonly FieldError[];
  /** With `beyond_retention` only: the nearest range that can be answered. */
  readonly nearest?: Nearest;
  /** Whole seconds, at least 1; becomes the Retry-After header. */
  readonly retryAfterSeconds?: number;
  /** What the operator is told in the place of `detail`: in the log, and by the management API. */
  readonly forOperator?: string;
  /** For the log, never for the caller. */
  readonly cause?: unknown;
}

/** The only error with a message for the caller. `detail` is public: no SQL, table names or secrets. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly detail: string;
  readonly forOperator: string;
  readonly errors: readonly FieldError[] | undefined;
  readonly nearest: Nearest | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, detail: string, options: AppErrorOptions = {}) {
    super(`${code}: ${options.forOperator ?? detail}`, { cause: options.cause });
    this.code = code;
    this.detail = detail;
    this.forOperator = options.forOperator ?? detail;
    this.errors = options.errors;
    this.nearest = options.nearest;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }
}
