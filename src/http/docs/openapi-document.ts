import type { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiSecuritySchemeObject,
} from 'zod-openapi';
import type { ErrorCode } from '../../domain/errors.ts';
import { HEADERS, type HeaderName, headersOf } from './openapi-headers.ts';
import { withNullInType } from './openapi-null.ts';
import { problemResponses } from './openapi-problems.ts';
import type { Documentation } from './reference/documentation.ts';

/** An operation of an API that is not the Public API. */
export interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** The names in the path, as the handler parses them. */
  readonly params?: z.ZodObject;
  /** The parameters after the question mark, as the handler parses them. */
  readonly query?: z.ZodObject;
  /** The body, as the handler parses it. */
  readonly body?: { readonly schema: z.ZodType; readonly example: unknown } | { readonly file: string };
  readonly status?: 200 | 201 | 202;
  /** The schema of an answer in JSON, or the media type of a file. */
  readonly answer: z.ZodType | { readonly file: string };
  readonly example?: unknown;
  readonly errors: readonly ErrorCode[];
  /** The other credential that it needs: one of `otherCredentials`. */
  readonly credential?: string;
}

export interface DocumentOf {
  readonly title: string;
  readonly description: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** How callers show who they are; null if nobody asks. */
  readonly credential: {
    readonly name: 'token' | 'session';
    readonly scheme: ZodOpenApiSecuritySchemeObject;
  } | null;
  /** Those of single operations, by name. */
  readonly otherCredentials?: Readonly<Record<string, ZodOpenApiSecuritySchemeObject>>;
  /** The headers of every good answer. */
  readonly headers: readonly HeaderName[];
  /** By method and path, with `:name` for a parameter: "GET /apps/:appId". */
  readonly operations: Readonly<Record<string, Described>>;
}

const ALWAYS: readonly HeaderName[] = ['X-Request-Id', 'Cache-Control'];

/** Makes OpenAPI 3.1 of some operations. */
export function documentOf(of: DocumentOf): Documentation {
  const { title, description, tags, credential, otherCredentials = {}, operations } = of;
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const [route, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = route.split(' ');
    const at = path.replace(/:(\w+)/g, '{$1}');
    paths[at] = { ...paths[at], [method.toLowerCase()]: operationOf(operation, of.headers) };
  }
  const all = Object.values(operations);
  const errors = all.flatMap((each) => each.errors);
  const used = new Set<HeaderName>([...ALWAYS, ...of.headers, ...headersOfErrors(errors)]);
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title,
      version: '1',
      description,
      contact: { name: 'The operators of this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The listener that serves this document.' }],
    tags: [...tags],
    security: credential === null ? [] : [{ [credential.name]: [] }],
    paths: paths as ZodOpenApiPathsObject,
    components: {
      ...(credential === null
        ? {}
        : { securitySchemes: { [credential.name]: credential.scheme, ...otherCredentials } }),
      headers: Object.fromEntries([...used].map((name) => [name, HEADERS[name]])),
      responses: Object.assign({}, ...all.flatMap((each) => Object.values(problemResponses(each.errors)))),
    },
  });
  return withNullInType(document) as unknown as Documentation;
}

function operationOf(operation: Described, headers: readonly HeaderName[]): ZodOpenApiOperationObject {
  const {
    operationId,
    summary,
    description,
    tag,
    params,
    query,
    body,
    status = 200,
    answer,
    example,
    errors,
    credential,
  } = operation;
  const problems = Object.entries(problemResponses(errors)).map(([code, named]) => [
    code,
    { $ref: `#/components/responses/${Object.keys(named)[0]}` },
  ]);
  return {
    operationId,
    summary,
    description: description ?? `${summary}.`,
    tags: [tag],
    ...(credential === undefined ? {} : { security: [{ [credential]: [] }] }),
    requestParams: {
      ...(params === undefined ? {} : { path: params }),
      ...(query === undefined ? {} : { query }),
    },
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content:
              'file' in body
                ? fileOf(body)
                : { 'application/json': { schema: body.schema, example: body.example } },
          },
        }),
    responses: {
      [String(status)]: {
        description: status === 201 ? 'Created.' : status === 202 ? 'Begun.' : 'The answer.',
        headers: headersOf(...ALWAYS, ...headers),
        content:
          'file' in answer
            ? fileOf(answer)
            : { 'application/json': { schema: answer, ...(example === undefined ? {} : { example }) } },
      },
      ...Object.fromEntries(problems),
    },
  };
}

const fileOf = ({ file }: { readonly file: string }) => ({
  [file]: { schema: { type: 'string' as const, format: 'binary' } },
});

function headersOfErrors(codes: readonly ErrorCode[]): HeaderName[] {
  const has = (...some: readonly ErrorCode[]): boolean => codes.some((code) => some.includes(code));
  return [
    ...(has('unauthorized') ? (['WWW-Authenticate'] as const) : []),
    ...(has('unauthorized', 'overloaded', 'store_unavailable', 'rate_limited')
      ? (['Retry-After'] as const)
      : []),
    ...(has('rate_limited')
      ? (['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const)
      : []),
  ];
}
