import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../src/domain/errors.ts';
import type { KeyId } from '../../src/domain/ids.ts';
import { parametersOf } from '../../src/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { EXAMPLE_BODY, EXAMPLE_RANGE } from '../../src/http/docs/openapi-examples.ts';
import { EVENT_STREAM } from '../../src/http/forms/event-stream.ts';
import type { PlanName } from '../../src/metadata/types.ts';
import { openStream } from '../support/event-stream.ts';
import { questionPath } from '../support/questions.ts';
import { DOCUMENT_TEXT, DOCUMENTED, documentedSchema, formsOf, likeExample } from './openapi-support.ts';
import { withService } from './operations.ts';
import { AT_NOON, SAMPLE } from './sample.ts';
import { type Answer, type Ask, endpointOf, sendRaw } from './support.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));

test('is served', async () => {
  const { headers, json, text } = await service().ask('/openapi.json', { key: null });
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(json).toEqual(JSON.parse(DOCUMENT_TEXT));
  const etag = headers['etag'] ?? '';
  const again = await service().ask('/openapi.json', { headers: { 'If-None-Match': etag } });
  expect(again).toMatchObject({ status: 304, text: '' });
  expect(text.length).toBeGreaterThan(1000);
});

test('offers one type to generators, and a schema with a type for every form', () => {
  const good = DOCUMENTED.filter(({ status }) => /^20/.test(status));
  for (const { operationId, response } of good) {
    expect(Object.keys(response.content ?? {})).toEqual(['application/json']);
    for (const [form, { schema }] of Object.entries(formsOf(response))) {
      expect([operationId, form, schema['type'] ?? schema['$ref']]).not.toContain(undefined);
    }
  }
  const forms = good.map(({ response }) => Object.keys(formsOf(response)).length);
  expect(forms.filter((count) => count === 6)).toHaveLength(7);
  expect(forms.filter((count) => count === 2)).toHaveLength(7);
});

/** Makes a key for each question, so that no window is used up. */
const newKey = async (): Promise<string> => {
  const { apiKey, keyId } = await service().metadata.createKey(service().account, { expiresAt: null });
  made.push(keyId);
  // An account may have 100 keys at once.
  const outdated = made.length > 20 ? made.shift() : undefined;
  if (outdated !== undefined) await service().metadata.revokeKey(outdated);
  return apiKey;
};
const made: KeyId[] = [];

const parameters = (operationId: string) => parametersOf(endpointOf(operationId).query).shape;

/** Sends the example's request, with the example's range if it has one. */
const searchOf = (operationId: string): URLSearchParams =>
  new URLSearchParams({
    ...('appId' in parameters(operationId) ? { appId: service().app } : {}),
    ...('from' in parameters(operationId) ? EXAMPLE_RANGE : {}),
    ...('interval' in parameters(operationId) ? { interval: 'day', timezone: 'Asia/Tehran' } : {}),
    ...('type' in parameters(operationId) ? { type: 'custom' } : {}),
    ...('by' in parameters(operationId) ? { by: 'country' } : {}),
  });

async function askExample(operationId: string, ask: Ask = {}, more = ''): Promise<Answer> {
  const { path, method } = endpointOf(operationId);
  const search = searchOf(operationId);
  return service().ask(`${path}?${search}${more}`, {
    key: await newKey(),
    ...(method === 'post' ? { method: 'POST', body: EXAMPLE_BODY } : {}),
    ...ask,
  });
}

type Provoke = (operationId: string) => Promise<Answer>;

const withPlan = async (operationId: string, plan: PlanName): Promise<Answer> => {
  const { key } = await service().newAccount(plan);
  const principal = await service().metadata.authenticate(key);
  for (let i = 0; principal !== null && plan === 'free' && i < 3; i++) {
    await service().metadata.createApp(principal, { name: 'App', domain: `https://a${i}.example` });
  }
  return askExample(operationId, { key });
};

async function tooMany(operationId: string): Promise<Answer> {
  for (let i = 0; i < 31; i++) await service().ask('/api/v1/apps', { key: 'wrong' });
  return askExample(operationId, { key: 'wrong' });
}

async function limited(operationId: string): Promise<Answer> {
  const key = await newKey();
  await Promise.all(Array.from({ length: 120 }, () => service().ask('/api/v1/none', { key })));
  return askExample(operationId, { key });
}

/** Provokes each error. The errors of a broken store are in store-away.test.ts. */
const PROVOKE: Readonly<Partial<Record<ErrorCode, Provoke>>> = {
  bad_request: (operationId) => {
    const { method, path } = endpointOf(operationId);
    return sendRaw(service().url, `${method.toUpperCase()} ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`);
  },
  validation_failed: (operationId) => askExample(operationId, {}, '&form=2026-11-20'),
  unauthorized: (operationId) => askExample(operationId, { key: null }),
  app_access_denied: async (operationId) =>
    service().ask(questionPath(endpointOf(operationId), randomUUID()), {
      key: await newKey(),
    }),
  plan_blocked: (operationId) =>
    withPlan(operationId, 'appId' in parameters(operationId) ? 'suspended' : 'free'),
  domain_conflict: (operationId) => askExample(operationId),
  payload_too_large: (operationId) => askExample(operationId, { body: { name: 'x'.repeat(110_000) } }),
  uri_too_long: (operationId) => askExample(operationId, {}, `&x=${'y'.repeat(9_000)}`),
  unsupported_media_type: (operationId) =>
    askExample(operationId, { headers: { 'Content-Type': 'text/plain' } }),
  rate_limited: limited,
  headers_too_large: (operationId) => askExample(operationId, { headers: { 'X-Big': 'y'.repeat(17_000) } }),
  too_many_invalid_attempts: tooMany,
};

const provoked = new Set<string>();
const CODES = Object.keys(PROVOKE) as ErrorCode[];
/** The only header that the request has to ask for. */
const WITH_AGE = { 'Cache-Control': 'max-stale=0' };
const EXCEPT: readonly string[] = ['500', '503'];

describe.each(ENDPOINTS.map(({ operationId }) => operationId))('%s', (operationId) => {
  const mine = DOCUMENTED.filter((each) => each.operationId === operationId);

  test.each(mine.filter(({ status }) => /^20/.test(status)))(
    '$status answers its example in every form',
    async ({ status, response }) => {
      for (const [type, media] of Object.entries(formsOf(response))) {
        if (type === EVENT_STREAM) continue;
        const answer = await askExample(operationId, { headers: { Accept: type, ...WITH_AGE } });
        expect(String(answer.status)).toBe(status);
        expect(answer.headers['content-type']?.split(';')[0]).toBe(type);
        expectHeaders(answer, Object.keys(response.headers));
        if (media.example === undefined) continue;
        expect(likeExample(answer, service().app)).toEqual(media.example);
        documentedSchema(media.schema).parse(answer.json ?? answer.text);
      }
      provoked.add(`${operationId} ${status}`);
    },
  );

  test.each(mine.filter(({ status }) => status === '200' && operationId !== 'listApps'))(
    '$status streams its example',
    async ({ response }) => {
      const search = searchOf(operationId);
      const path = `${endpointOf(operationId).path}?${search}`;
      const { headers, next, close } = await openStream(service().url, path, { key: await newKey() });
      const first = await next();
      close();
      expect(headers['content-type']).toBe(EVENT_STREAM);
      const example = String(formsOf(response)[EVENT_STREAM]?.example);
      expect(example).toMatch(/^id: ".+"\ndata: .+\n\n$/);
      expect(JSON.parse(first?.data ?? '')).toEqual(JSON.parse(example.slice(example.indexOf('data: ') + 6)));
    },
  );

  test.each(mine.filter(({ status }) => status === '304'))('304', async ({ response }) => {
    const key = await newKey();
    const { headers } = await askExample(operationId, { key });
    const answer = await askExample(operationId, {
      key,
      headers: { 'If-None-Match': headers['etag'] ?? '', ...WITH_AGE },
    });
    expect(answer).toMatchObject({ status: 304, text: '' });
    expectHeaders(answer, Object.keys(response.headers));
    provoked.add(`${operationId} 304`);
  });

  test.each(
    CODES.flatMap((code) => {
      const documented = mine.find(({ status }) => status === String(ERROR_CODES[code].status));
      const media = documented?.response.content?.['application/problem+json'];
      const example = media?.examples?.[code]?.value;
      return media === undefined || documented === undefined || example === undefined
        ? []
        : [{ code, status: documented.status, media, example, response: documented.response }];
    }),
  )('$status $code answers its example', async ({ code, status, media, example, response }) => {
    const answer = await PROVOKE[code]?.(operationId);
    if (answer === undefined) throw new Error('not provoked');
    expect(String(answer.status)).toBe(status);
    expect(likeExample(answer, service().app)).toEqual(example);
    documentedSchema(media.schema).parse(answer.json);
    const sometimes = code === 'unauthorized' ? ['Retry-After'] : [];
    expectHeaders(
      answer,
      Object.keys(response.headers).filter((name) => !sometimes.includes(name)),
    );
    provoked.add(`${operationId} ${status}`);
  });
});

const expectHeaders = ({ headers }: Answer, names: readonly string[]): void =>
  expect(Object.keys(headers)).toEqual(expect.arrayContaining(names.map((name) => name.toLowerCase())));

afterAll(() => {
  const documented = DOCUMENTED.filter(({ status }) => !EXCEPT.includes(status));
  expect([...provoked].sort()).toEqual(
    documented.map(({ operationId, status }) => `${operationId} ${status}`).sort(),
  );
});
