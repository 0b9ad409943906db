import type { ErrorCode, FieldError } from '../domain/errors.ts';
import type { RateLimit } from './types.ts';

/** The service's problem details, as far as they could be read. */
export interface ProblemFields {
  readonly code?: ErrorCode;
  readonly detail?: string;
  readonly requestId?: string;
  readonly errors?: readonly FieldError[];
}

/** The service refused. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** Null where something on the way answered in the service's place. */
  readonly code: ErrorCode | null;
  readonly detail: string;
  /** To be named when asking for help. */
  readonly requestId: string | null;
  /** With `validation_failed`: what is wrong, field by field. */
  readonly errors: readonly FieldError[];
  readonly retryAfterSeconds: number | null;
  readonly rateLimit: RateLimit | null;

  constructor(
    status: number,
    { code, detail, requestId, errors = [] }: ProblemFields,
    headers: { readonly retryAfterSeconds: number | null; readonly rateLimit: RateLimit | null },
  ) {
    const fields = errors.map(({ field, message }) => ` ${field}: ${message}`).join('');
    super(`${status} ${code ?? 'unknown'}: ${detail ?? 'no reason was given'}${fields}`);
    this.status = status;
    this.code = code ?? null;
    this.detail = detail ?? '';
    this.requestId = requestId ?? null;
    this.errors = errors;
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
