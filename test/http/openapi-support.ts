import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { EXAMPLE_APP } from '../../src/http/docs/openapi-examples.ts';
import type { Answer } from './support.ts';

/** The committed document, which integrators read. */
export const DOCUMENT_TEXT = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');

const Reference = z.object({ $ref: z.string() });
const Media = z.object({
  schema: z.record(z.string(), z.unknown()),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
});
const Response = z.object({
  description: z.string(),
  headers: z.record(z.string(), Reference),
  content: z.record(z.string(), Media).optional(),
  'x-forms': z.record(z.string(), Media).optional(),
});
const Operation = z.object({
  operationId: z.string(),
  responses: z.record(z.string(), z.union([Reference, Response])),
});
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({
    schemas: z.record(z.string(), z.unknown()),
    responses: z.record(z.string(), Response),
    headers: z.record(z.string(), z.unknown()),
  }),
});
const DOCUMENT = Document.parse(JSON.parse(DOCUMENT_TEXT));

export interface DocumentedStatus {
  readonly operationId: string;
  readonly status: string;
  readonly response: z.infer<typeof Response>;
}

/** Every status of every operation. */
export const DOCUMENTED: readonly DocumentedStatus[] = Object.values(DOCUMENT.paths)
  .flatMap((methods) => Object.values(methods))
  .flatMap(({ operationId, responses }) =>
    Object.entries(responses).map(([status, response]) => ({
      operationId,
      status,
      response: '$ref' in response ? followed(response.$ref) : response,
    })),
  );

function followed(ref: string): z.infer<typeof Response> {
  const response = DOCUMENT.components.responses[ref.replace('#/components/responses/', '')];
  if (response === undefined) throw new Error(`no ${ref}`);
  return response;
}

/** Every form of an answer, by its media type. */
export const formsOf = ({ content, 'x-forms': others }: DocumentedStatus['response']) => ({
  ...content,
  ...others,
});

/** Makes a check from a documented schema, whatever it was generated from. */
export function documentedSchema(schema: Readonly<Record<string, unknown>>): z.ZodType {
  const text = JSON.stringify({ ...schema, $defs: DOCUMENT.components.schemas });
  return z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
}

/** Returns the answer in the form of the examples: values that differ between runs are replaced. */
export function likeExample({ text, json }: Answer, app: string): unknown {
  const same = text
    .replaceAll(app, EXAMPLE_APP)
    .replace(/http:\/\/127\.0\.0\.1:\d+\/dashboard/, 'https://analytics.example/dashboard')
    .replace(/"requestId":"[^"]+"/, '"requestId":"01KAG3V7M0Q8ZJ4T5W6X7Y8Z9A"')
    .replace(/"retryAfterSeconds":\d+/, '"retryAfterSeconds":42')
    .replace(/Wait \d+ s/, 'Wait 42 s')
    .replace(/"secretKey":"app_secret_[^"]{40}"/, '"secretKey":"app_secret_…"')
    .replace(/^\{"id":"[^"]{36}"/, '{"id":"b2a7c1de-30f4-4a8e-9d52-7c0a4f6b1e83"');
  return json === undefined ? same : JSON.parse(same);
}
