import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { ERROR_CODES, type ErrorCode } from '../../domain/errors.ts';
import { PROBLEM_TYPE, Problem, typeOf } from '../request/problem.ts';
import { headersOf } from './openapi-headers.ts';

const RETRY_SECONDS = 42;
const NEAREST = { from: '2026-05-01T10:30:00.000+03:30', to: '2026-05-01T18:29:59.999+03:30' };

/** The detail of each error in the examples. */
const DETAILS: Details = {
  bad_request: 'The request is not valid HTTP.',
  validation_failed: 'One or more fields are invalid.',
  beyond_retention:
    'Single events of this app are kept from 2026-06-01T00:00:00.000Z on. Before that, a range of events can only begin and end at whole hours, UTC; the nearest one is named.',
  unauthorized:
    'A valid account API key is needed: send it as "Authorization: Bearer <key>". Keys are made at https://analytics.example/dashboard/api-keys.',
  too_many_invalid_attempts:
    'Too many invalid credentials came from this address. Wait, then send a valid one.',
  app_access_denied: 'The account has no access to this app.',
  plan_blocked: "The account's plan does not include analytics.",
  domain_conflict: 'The account already has an app for blog.example.',
  payload_too_large: 'The body is larger than 102400 bytes.',
  uri_too_long: 'The URL is longer than 8192 bytes.',
  unsupported_media_type: 'Send the body as application/json in UTF-8, not compressed.',
  rate_limited: `This key may make 120 requests in 60 s. Wait ${RETRY_SECONDS} s.`,
  headers_too_large: 'The headers are larger than 16384 bytes.',
  internal: 'Something went wrong on our side. The requestId helps us find it.',
  overloaded: 'Too many questions at once. Try again shortly.',
  store_unavailable: 'The store does not answer. Try again shortly.',
};

/** Responses shared by the documented operations, by component name. */
type Named = Record<string, ZodOpenApiResponseObject>;

type Details = Readonly<Partial<Record<ErrorCode, string>>>;

/**
 * Returns one response for each status among `codes`, with one example body for each code. `details` replace
 * the usual texts.
 */
export function problemResponses(codes: readonly ErrorCode[], details: Details = {}): Record<string, Named> {
  const byStatus: Record<string, Named> = {};
  for (const status of new Set(codes.map((code) => ERROR_CODES[code].status))) {
    const here = [...new Set(codes)].filter((code) => ERROR_CODES[code].status === status);
    byStatus[status] = { [here.map(pascal).join('Or')]: response(status, here, { ...DETAILS, ...details }) };
  }
  return byStatus;
}

function response(status: number, codes: readonly ErrorCode[], details: Details): ZodOpenApiResponseObject {
  const [first = 'internal'] = codes;
  return {
    description: `${ERROR_CODES[first].title}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    headers: headersOf(
      'X-Request-Id',
      'Cache-Control',
      ...(status === 429
        ? (['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const)
        : []),
      ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
      ...(status === 401 || status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ),
    content: {
      [PROBLEM_TYPE]: {
        schema: Problem,
        examples: Object.fromEntries(codes.map((code) => [code, { value: example(code, details[code]) }])),
      },
    },
  };
}

function example(code: ErrorCode, detail = ''): Problem {
  return {
    type: typeOf(code),
    ...ERROR_CODES[code],
    code,
    detail,
    requestId: '01KAG3V7M0Q8ZJ4T5W6X7Y8Z9A',
    ...(code === 'validation_failed' ? { errors: [{ field: 'form', message: 'Unknown parameter.' }] } : {}),
    ...(code === 'beyond_retention' ? { nearest: NEAREST } : {}),
    ...(code === 'rate_limited' ? { retryAfterSeconds: RETRY_SECONDS } : {}),
  };
}

const pascal = (code: string): string =>
  code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
