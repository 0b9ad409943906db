import type { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponseObject } from 'zod-openapi';
import { ERROR_CODES, type ErrorCode } from '../domain/errors.ts';
import { type Endpoint, parametersOf } from '../endpoints/endpoint.ts';
import { ENDPOINTS } from '../endpoints/index.ts';
import { PROBLEM_TYPE, Problem } from './problem.ts';

const EVERYWHERE: readonly ErrorCode[] = [
  'bad_request',
  'validation_failed',
  'unauthorized',
  'too_many_invalid_attempts',
  'uri_too_long',
  'rate_limited',
  'headers_too_large',
  'internal',
  'overloaded',
  'store_unavailable',
];
const ABOUT_AN_APP: readonly ErrorCode[] = ['app_access_denied', 'plan_blocked'];
const WITH_A_BODY: readonly ErrorCode[] = ['plan_blocked', 'payload_too_large', 'unsupported_media_type'];

const integer = (description: string) => ({ description, schema: { type: 'integer' as const } });
const string = (description: string) => ({ description, schema: { type: 'string' as const } });

const REQUEST_ID = {
  'X-Request-Id': string('Names this request in logs; an inbound one of the right form is kept.'),
};
const RATE_LIMIT = {
  'X-RateLimit-Limit': integer('Requests that the window grants.'),
  'X-RateLimit-Remaining': integer('Requests left in the window.'),
  'X-RateLimit-Reset': integer('Whole seconds until the window ends; not an epoch time.'),
};
const RETRY_AFTER = { 'Retry-After': integer('Whole seconds to wait.') };

let document: ReturnType<typeof createDocument> | undefined;

/** OpenAPI 3.1 of the Public API, made from the endpoints themselves. */
export function openApiDocument(): ReturnType<typeof createDocument> {
  document ??= createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Public API for App Management and Session Analytics',
      version: '1',
      description:
        'Exact figures, to the millisecond. All timestamps are ISO 8601 UTC with milliseconds. `HEAD` works wherever `GET` does.',
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An account API key (`service_api_…`). Server-side only.',
        },
      },
    },
    security: [{ apiKey: [] }],
    paths: Object.fromEntries(
      [...new Set(ENDPOINTS.map(({ path }) => path))].map((path) => [path, methodsOf(path)]),
    ),
  });
  return document;
}

const methodsOf = (path: string): Record<string, ZodOpenApiOperationObject> =>
  Object.fromEntries(
    ENDPOINTS.filter((endpoint) => endpoint.path === path).map((endpoint) => [
      endpoint.method,
      operation(endpoint),
    ]),
  );

function operation(endpoint: Endpoint): ZodOpenApiOperationObject {
  const { operationId, summary, description, method } = endpoint;
  const codes = [
    ...EVERYWHERE,
    ...('appId' in parametersOf(endpoint.query).shape ? ABOUT_AN_APP : []),
    ...(method === 'post' ? WITH_A_BODY : []),
    ...endpoint.errors,
  ];
  return {
    operationId,
    summary,
    ...(description === '' ? {} : { description }),
    requestParams: {
      // The wire carries strings; the schema's input side says which.
      query: parametersOf(endpoint.query),
    },
    ...(method === 'post'
      ? { requestBody: { required: true, content: { 'application/json': { schema: endpoint.body } } } }
      : {}),
    responses: {
      ...(method === 'post' ? { '201': created(endpoint.response) } : found(endpoint.response)),
      ...failures(codes),
    },
  };
}

const found = (schema: z.ZodType): Record<'200' | '304', ZodOpenApiResponseObject> => ({
  '200': {
    description: 'The answer.',
    headers: {
      ...REQUEST_ID,
      ...RATE_LIMIT,
      ETag: string('Strong; send it back as If-None-Match.'),
      'Cache-Control': string('private, max-age=0, must-revalidate'),
    },
    content: { 'application/json': { schema } },
  },
  '304': {
    description: 'The caller has this answer (If-None-Match).',
    headers: { ...REQUEST_ID, ...RATE_LIMIT },
  },
});

const created = (schema: z.ZodType): ZodOpenApiResponseObject => ({
  description: 'Created.',
  headers: { ...REQUEST_ID, ...RATE_LIMIT, 'Cache-Control': string('no-store') },
  content: { 'application/json': { schema } },
});

/** One response per status; its description lists the codes. */
function failures(codes: readonly ErrorCode[]): Record<`${4 | 5}${string}`, ZodOpenApiResponseObject> {
  const statuses = [...new Set(codes.map((code) => ERROR_CODES[code].status))].sort();
  return Object.fromEntries(
    statuses.map((status) => {
      const here = [...new Set(codes)].filter((code) => ERROR_CODES[code].status === status);
      const response: ZodOpenApiResponseObject = {
        description: `${ERROR_CODES[here[0] ?? 'internal'].title}: ${here.map((code) => `\`${code}\``).join(', ')}`,
        headers: {
          ...REQUEST_ID,
          ...(status === 429 ? RATE_LIMIT : {}),
          ...(status === 429 || status === 503 ? RETRY_AFTER : {}),
          ...(status === 401 ? { 'WWW-Authenticate': string('Bearer') } : {}),
        },
        content: { [PROBLEM_TYPE]: { schema: Problem } },
      };
      return [String(status), response];
    }),
  );
}
