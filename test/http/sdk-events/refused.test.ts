import { describe, expect, test } from 'vitest';
import { withService } from '../operations.ts';
import { expectProblem } from '../support.ts';
import { batchFor, PATH, post, visit } from './support.ts';

const service = withService({ env: { TRUST_PROXY: '1' } });

describe('400', () => {
  test.each([
    ['appId', { appId: undefined }],
    ['appId', { appId: 7 }],
    ['secretKey', { secretKey: null }],
    ['batchId', { batchId: undefined }],
    ['batchId', { batchId: 'not-a-uuid' }],
    ['sessions', { sessions: undefined }],
    ['sessions', { sessions: {} }],
    ['sessions', { sessions: Array(501).fill(visit()) }],
    ['sessions', { sessions: [{ ...visit(), events: Array(5_001).fill({}) }] }],
  ])('a wrong envelope: %s (%#)', async (field, changes) => {
    const answer = await post(service(), batchFor(service(), changes));
    expectProblem(answer, 'validation_failed');
    expect(answer.json).toMatchObject({ errors: [{ field, message: expect.any(String) }] });
  });

  test.each(['', '{', '[]', 'null', '"text"', '{"appId":1}x'])('no envelope at all: %j', async (body) => {
    expectProblem(await post(service(), body), 'validation_failed');
  });

  test('a page can read the error', async () => {
    const answer = await post(service(), {}, { Origin: 'https://shop.example' });
    expectProblem(answer, 'validation_failed');
    expect(answer.headers['access-control-allow-origin']).toBe('https://shop.example');
  });
});

describe('401', () => {
  test.each([
    ['an unknown app', { appId: 'b2c1d0e9-0000-4000-8000-000000000000' }],
    ['an id that is no UUID', { appId: "x' OR 1" }],
    ['an empty id', { appId: '' }],
    ['a wrong secret', { secretKey: `app_secret_${'0'.repeat(40)}` }],
    ['a malformed secret', { secretKey: '\u0000' }],
    ['an empty secret', { secretKey: '' }],
  ])('%s', async (_, changes) => {
    expectProblem(await post(service(), batchFor(service(), changes)), 'unauthorized');
  });

  test("the account's API key is no app's secret", async () => {
    expectProblem(await post(service(), batchFor(service(), { secretKey: service().key })), 'unauthorized');
  });

  test('too many wrong credentials are named as such, and right ones still work', async () => {
    // Wrong credentials are counted by address.
    const from = { 'X-Forwarded-For': '203.0.113.1' };
    const wrong = batchFor(service(), { secretKey: 'wrong' });
    for (let i = 0; i < 30; i++) await post(service(), wrong, from);
    const answer = await post(service(), wrong, from);
    expectProblem(answer, 'too_many_invalid_attempts');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect((await post(service(), batchFor(service()), from)).status).toBe(200);
  });
});

describe('403', () => {
  test.each([
    'https://other.example',
    'https://notshop.example',
    'https://shop.example.evil.example',
    'https://xn--a.shop.example',
    'https://example',
    'null',
    'https://shop.example/x',
    'https://shop.example/',
    'https://shop.example?x',
    'https://shop.example#x',
    'https://user@shop.example',
    'https://@shop.example',
    'https:shop.example',
    'https:\\\\shop.example',
    'https://shop.example:',
    'https://shop.example:70000',
    'https://shop.example, https://shop.example',
    'https://other.example, https://shop.example',
    'https://shop.example https://other.example',
    'ftp:shop.example',
    'shop.example',
  ])('a page at %s may not send, and may read why', async (origin) => {
    const answer = await post(service(), batchFor(service()), { Origin: origin });
    expectProblem(answer, 'app_access_denied');
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    expect((answer.json as { detail: string }).detail).toBe(
      `The page's origin (${origin}) is not of the app's domain (shop.example and its subdomains).`,
    );
  });

  test('a refused batch stores nothing', async () => {
    const { app, secretKey, ask } = await service().newTenant();
    const batch = batchFor({ app, secretKey });
    expectProblem(await post(service(), batch, { Origin: 'https://other.example' }), 'app_access_denied');
    const { json } = await ask(`/api/v1/sessions/data-bounds?appId=${app}`);
    expect(json).toEqual({ oldest: null, newest: null });
  });
});

describe('405', () => {
  test.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s', async (method) => {
    const answer = await service().ask(PATH, { method, key: null });
    expectProblem(answer, 'method_not_allowed');
    expect(answer.headers['allow']).toBe('POST, OPTIONS');
  });

  test.each([`${PATH}/`, '/SDK/v1/events'])('%s is not found', async (path) => {
    expectProblem(await service().ask(path, { method: 'POST', key: null, body: {} }), 'not_found');
  });
});

describe('413', () => {
  const ofSize = (bytes: number): string => {
    const text = JSON.stringify(batchFor(service(), { padding: '' }));
    return text.replace('"padding":""', `"padding":"${'x'.repeat(bytes - text.length)}"`);
  };

  test('1 MiB is accepted', async () => {
    expect((await post(service(), ofSize(1_048_576))).status).toBe(200);
  });

  test('one byte more is refused', async () => {
    expectProblem(await post(service(), ofSize(1_048_577)), 'payload_too_large');
  });
});

describe('415', () => {
  test.each([
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'text/html',
    'text/plain; charset=utf-16',
  ])('%s', async (type) => {
    expectProblem(
      await post(service(), batchFor(service()), { 'Content-Type': type }),
      'unsupported_media_type',
    );
  });
});
