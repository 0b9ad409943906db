import type { ErrorRequestHandler } from 'express';
import type { Logger } from 'pino';
import { z } from 'zod';
import { AppError, ERROR_CODES, type ErrorCode } from '../../domain/errors.ts';
import { isError } from '../../domain/thrown.ts';
import type { Clock } from '../../domain/time.ts';
import { newRequestId } from './request-id.ts';

const MAX_FIELD_ERRORS = 20;
export const PROBLEM_TYPE = 'application/problem+json';

/**
 * The `type` of a problem: the address of its explanation, on the listener that answers. It names no host, because the
 * service does not know by which of its names the caller reached it (RFC 9457, section 3.1.1, allows that).
 */
export const typeOf = (code: ErrorCode): string => `/docs/errors#${code}`;

export const Problem = z
  .strictObject({
    type: z
      .string()
      .regex(/^\/docs\/errors#[a-z_]+$/)
      .meta({ description: 'Where this service explains the error: a path with the code as its fragment.' }),
    title: z.string(),
    status: z.int().min(400).max(599),
    code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
    detail: z.string(),
    requestId: z.string(),
    errors: z
      .array(z.strictObject({ field: z.string(), message: z.string() }))
      .max(MAX_FIELD_ERRORS)
      .optional()
      .meta({ description: 'Only with `validation_failed`: what is wrong, field by field.' }),
    nearest: z.strictObject({ from: z.string().nullable(), to: z.string().nullable() }).optional().meta({
      description:
        'Only with `beyond_retention`: the nearest bounds with an exact answer, with the offsets of the request; null for a bound that it left out.',
    }),
    retryAfterSeconds: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'Only with 429: whole seconds to wait, equal to Retry-After.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details; the one shape of every error.' });

export type Problem = z.infer<typeof Problem>;

export interface ProblemResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Problem;
}

/**
 * Turns an error into HTTP; nothing else does. An error that is no AppError is a bug, or a request that
 * Express could not read. Its message is not sent to the caller.
 */
export function problem(error: unknown, requestId: string, isForOperator = false): ProblemResponse {
  const known = asAppError(error);
  const { code, status, errors, nearest, retryAfterSeconds } = known;
  const detail = isForOperator ? known.forOperator : known.detail;
  return {
    status,
    headers: {
      'Content-Type': PROBLEM_TYPE,
      'Cache-Control': 'no-store',
      ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
      ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    },
    body: {
      type: typeOf(code),
      title: ERROR_CODES[code].title,
      status,
      code,
      detail,
      requestId,
      ...(errors === undefined ? {} : { errors: errors.slice(0, MAX_FIELD_ERRORS) }),
      ...(nearest === undefined ? {} : { nearest }),
      ...(status === 429 && retryAfterSeconds !== undefined ? { retryAfterSeconds } : {}),
    },
  };
}

/** Answers a request whose handler threw. Faults (5xx) reach the log through `res.err`. */
export const errorHandler =
  (options: {
    readonly log: Logger;
    readonly clock: Clock;
    /** The callers are operators. */
    readonly isForOperator?: boolean;
  }): ErrorRequestHandler =>
  (error, _req, res, next) => {
    if (res.headersSent) {
      options.log.error({ err: error }, 'failed after the response had begun');
      next(error);
      return;
    }
    const inbound = res.getHeader('X-Request-Id');
    const requestId = typeof inbound === 'string' ? inbound : newRequestId(options.clock());
    const { status, headers, body } = problem(error, requestId, options.isForOperator);
    if (status >= 500) res.err = isError(error) ? error : new Error(String(error));
    res.statusCode = status;
    const text = JSON.stringify(body);
    // Replaces the headers of the answer that had been prepared.
    for (const name of ['Content-Encoding', 'ETag', 'X-Data-As-Of', 'Age']) res.removeHeader(name);
    res.setHeader('Content-Length', Buffer.byteLength(text));
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    res.setHeader('X-Request-Id', requestId);
    res.end(text);
  };

/** Express's own errors have a 4xx status: a path or header that it could not read. */
function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new AppError('bad_request', 'The request cannot be read.', { cause: error });
  }
  return new AppError('internal', 'Something went wrong on our side. The requestId helps us find it.', {
    cause: error,
  });
}
