import {
  createDocument,
  type ZodOpenApiMediaTypeObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { ErrorCode } from '../../domain/errors.ts';
import { type Endpoint, parametersOf } from '../../endpoints/endpoint.ts';
import { ENDPOINTS } from '../../endpoints/index.ts';
import { columnsOf } from '../forms/columns.ts';
import { EVENT_STREAM } from '../forms/event-stream.ts';
import { type Form, JSON_FORM, LIST_FORMS } from '../forms/forms.ts';
import { writeCsv, writeNdjson } from '../forms/rows.ts';
import { EXAMPLE_BODY, EXAMPLES } from './openapi-examples.ts';
import { HEADERS, headersOf } from './openapi-headers.ts';
import { withNullInType } from './openapi-null.ts';
import { problemResponses } from './openapi-problems.ts';

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

const COUNTED = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;
const VALIDATED = ['ETag', 'Cache-Control', 'Vary', 'Server-Timing'] as const;

const TAGS = [
  { name: 'Apps', description: 'The apps that an account owns or sees.' },
  { name: 'Sessions', description: 'Analytics of one app.' },
  { name: 'Growth', description: 'Where visitors come from.' },
];

const DESCRIPTION = `Exact figures, to the millisecond, about the sessions of an account's apps. \`/docs/figures\` says what every
number means.

All timestamps are ISO 8601 UTC with milliseconds. \`HEAD\` works wherever \`GET\` does. Errors are RFC 9457 problem details.

**Conditional requests.** Every 200 to a \`GET\` but a stream has a strong \`ETag\` made from the version of the data. Send it back as
\`If-None-Match\`: while the answer is unchanged, the response is a 304 without a body. A 304 costs next to nothing, and
counts in the rate limit like any other request.

**Forms.** Lists are also available as CSV, NDJSON, Parquet and Arrow stream; choose with \`Accept\`. The answer is JSON if
\`Accept\` names no form that is offered. \`x-forms\` of a response names these forms and streams, like \`content\`. They are apart
because generators make one type of all that \`content\` names. Answers above 1 KiB are compressed according to \`Accept-Encoding\` (br, gzip).

**Streams.** With \`Accept: text/event-stream\` every \`GET\` about an app sends the answer now, and again whenever it
changes, as server-sent events, at most once a second. \`id\` is the answer's \`ETag\`; \`Last-Event-ID\` resumes. The
joined \`data\` lines are the answer in JSON. Each answer that is sent counts as a request. While the window is used up,
the next answer waits, and is then the newest. A comment every 15 s keeps the connection open. If the service ends the
stream, the last event is \`end\`, and its data is the problem that a new request would get.`;

let document: ReturnType<typeof createDocument> | undefined;

/** Returns OpenAPI 3.1 of the Public API, made from the endpoints. */
export function openApiDocument(): ReturnType<typeof createDocument> {
  document ??= withNullInType(made());
  return document;
}

const made = (): ReturnType<typeof createDocument> =>
  createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Public API for App Management and Session Analytics',
      version: '1',
      description: DESCRIPTION,
      contact: { name: 'The operators of this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that serves this document.' }],
    tags: TAGS,
    security: [{ apiKey: [] }],
    paths: Object.fromEntries(
      [...new Set(ENDPOINTS.map(({ path }) => path))].map((path) => [path, methodsOf(path)]),
    ),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An account API key (`service_api_…`). Server-side only.',
        },
      },
      headers: HEADERS,
      responses: Object.assign({}, ...ENDPOINTS.flatMap((endpoint) => Object.values(problemsOf(endpoint)))),
    },
  });

/** The document in the form of docs/openapi.json. */
export const openApiText = (): string => `${JSON.stringify(openApiDocument(), null, 2)}\n`;

const methodsOf = (path: string): Record<string, ZodOpenApiOperationObject> =>
  Object.fromEntries(
    ENDPOINTS.filter((endpoint) => endpoint.path === path).map((endpoint) => [
      endpoint.method,
      operation(endpoint),
    ]),
  );

const isAboutApp = ({ query }: Endpoint): boolean => 'appId' in parametersOf(query).shape;

const problemsOf = (endpoint: Endpoint) =>
  problemResponses(
    [
      ...EVERYWHERE,
      ...(isAboutApp(endpoint) ? ABOUT_AN_APP : []),
      ...(endpoint.method === 'post' ? WITH_A_BODY : []),
      ...endpoint.errors,
    ],
    endpoint.method === 'post' ? { plan_blocked: 'The plan free allows 3 apps.' } : {},
  );

function operation(endpoint: Endpoint): ZodOpenApiOperationObject {
  const { operationId, summary, description, method, path } = endpoint;
  const problems = Object.entries(problemsOf(endpoint)).map(([status, named]) => [
    status,
    { $ref: `#/components/responses/${Object.keys(named)[0]}` },
  ]);
  const tag = TAGS.find(({ name }) => path.includes(`/${name.toLowerCase()}`));
  return {
    operationId,
    summary,
    description: description === '' ? `${summary}.` : description,
    tags: [tag?.name ?? ''],
    requestParams: {
      // The wire carries strings; the input side of the schema describes them.
      query: parametersOf(endpoint.query),
    },
    ...(method === 'get'
      ? { parameters: [IF_NONE_MATCH, ...(isAboutApp(endpoint) ? [MAX_STALE, LAST_EVENT_ID] : [])] }
      : {}),
    ...(method === 'post'
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: endpoint.body, example: EXAMPLE_BODY } },
          },
        }
      : {}),
    responses: {
      ...(method === 'post' ? { '201': created(endpoint) } : found(endpoint)),
      ...Object.fromEntries(problems),
    },
  };
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header' as const,
  description: 'The `ETag` of an earlier answer. If that answer is unchanged, the response is a 304.',
  schema: { type: 'string' as const },
  example: HEADERS.ETag.example,
};

const MAX_STALE = {
  name: 'Cache-Control',
  in: 'header' as const,
  description:
    '`max-stale=N`: accepts an answer to the same question that was current at most N seconds ago (0 to 3,600; 60 without a ' +
    'number), although newer events are stored. `Age` tells how old it is. `no-cache` and `no-store` cancel it. Other directives are ignored.',
  schema: { type: 'string' as const },
  example: 'max-stale=10',
};

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header' as const,
  description: 'Only for a stream: the `id` of the last answer that the caller has. It is not sent again.',
  schema: { type: 'string' as const },
  example: HEADERS.ETag.example,
};

function found(endpoint: Endpoint): Record<'200' | '304', ZodOpenApiResponseObject> {
  const headers = headersOf(...COUNTED, ...VALIDATED, ...(isAboutApp(endpoint) ? AS_OF : []));
  const forms = columnsOf(endpoint) === null ? [] : LIST_FORMS.filter((form) => form !== JSON_FORM);
  const others = {
    ...Object.fromEntries(forms.map((form) => [form.type, mediaOf(endpoint, form)])),
    ...(isAboutApp(endpoint) ? { [EVENT_STREAM]: streamOf(endpoint) } : {}),
  };
  return {
    '200': {
      description: 'The answer.',
      headers,
      content: { [JSON_FORM.type]: mediaOf(endpoint, JSON_FORM) },
      // Generators that take the union of all types, or the first one, would lose the types of the answers.
      ...(Object.keys(others).length === 0 ? {} : { 'x-forms': others }),
    },
    '304': { description: 'The answer that If-None-Match names is unchanged. No body.', headers },
  };
}
const AS_OF = ['X-Data-As-Of', 'Age'] as const;

const created = (endpoint: Endpoint): ZodOpenApiResponseObject => ({
  description: 'Created.',
  headers: headersOf(...COUNTED, 'Cache-Control', 'Server-Timing'),
  content: { [JSON_FORM.type]: mediaOf(endpoint, JSON_FORM) },
});

/** Generators know this form of 3.0, and take `contentMediaType` alone for anything. */
const BINARY = { type: 'string' as const, format: 'binary' };

function mediaOf({ operationId, response }: Endpoint, { write }: Form): ZodOpenApiMediaTypeObject {
  const example = EXAMPLES[operationId];
  if (write === null) return { schema: response, example };
  if (write !== writeCsv && write !== writeNdjson) return { schema: BINARY };
  const rows = example as readonly Readonly<Record<string, unknown>>[];
  const lines = write === writeCsv ? csvLines(rows) : rows.map((row) => `${JSON.stringify(row)}\n`);
  return { schema: { type: 'string' }, example: lines.join('') };
}

/** One event, as it is on the wire. */
function streamOf({ operationId }: Endpoint): ZodOpenApiMediaTypeObject {
  const example = `id: ${HEADERS.ETag.example}\ndata: ${JSON.stringify(EXAMPLES[operationId])}\n\n`;
  return { schema: { type: 'string' }, example };
}

/** Writes lines like `writeCsv`: quoted texts, bare numbers, nothing for null. */
function csvLines(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  const line = (values: readonly unknown[]): string =>
    `${values.map((value) => (value === null ? '' : JSON.stringify(value))).join(',')}\r\n`;
  return [line(Object.keys(rows[0] ?? {})), ...rows.map((row) => line(Object.values(row)))];
}
