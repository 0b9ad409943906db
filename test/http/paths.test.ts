import { expect, test } from 'vitest';
import { withService } from './operations.ts';
import { expectProblem } from './support.ts';

const service = withService({ env: { PUBLIC_API_REQUESTS_PER_MINUTE: '1000' } });

test('paths are exact: no trailing slash, no other case, no other spelling', async () => {
  const wrong = [
    '/api/v1',
    '/api/v1/',
    '/api/v1/apps/',
    '/api/v1/Apps',
    '/api/v1/%61pps',
    '/api/v1//apps',
    '/api/v1/./apps',
    '/api/v1/apps;x=1',
    '/api/v1/sessions',
    '/api/v1/unknown?appId=1',
  ];
  for (const path of wrong) {
    const answer = await service().ask(path);
    expectProblem(answer, 'not_found');
    expect(answer.headers['x-ratelimit-limit']).toBe('1000');
    expectProblem(await service().ask(path, { key: null }), 'unauthorized');
  }
});

test('other paths are 404 without authentication', async () => {
  for (const path of [
    '/API/v1/apps',
    '/api/v2/apps',
    '/api',
    '/api/v1x',
    '//api/v1/apps',
    '/Healthz',
    '/healthz/',
  ]) {
    const answer = await service().ask(path, { key: null });
    expectProblem(answer, 'not_found');
    expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
  }
});

test('/ and /docs/ redirect to the reference', async () => {
  for (const path of ['/', '/docs/']) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await service().ask(path, { method, key: null });
      expect(answer).toMatchObject({ status: 302, headers: { location: '/docs' } });
    }
    expectProblem(await service().ask(path, { method: 'POST', key: null, body: {} }), 'not_found');
  }
});

test('X-Request-Id: kept if its form is valid', async () => {
  const with_ = async (id: string) =>
    (await service().ask('/api/v1/apps', { headers: { 'X-Request-Id': id } })).headers['x-request-id'];
  expect(await with_('trace_1-A')).toBe('trace_1-A');
  expect(await with_('x'.repeat(64))).toBe('x'.repeat(64));
  for (const wrong of ['x'.repeat(65), 'a b', 'a.b', '<script>']) {
    expect(await with_(wrong)).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  }
});

test('health and the document: no key, no limit, HEAD too, other methods not', async () => {
  const bare = (path: string, method = 'GET') => service().ask(path, { key: null, method });
  for (const path of ['/healthz', '/readyz', '/openapi.json']) {
    const answer = await bare(path);
    expect(answer.status).toBe(200);
    expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
    expect(answer.headers['x-request-id']).toBeDefined();
    expect(await bare(path, 'HEAD')).toMatchObject({ status: 200, text: '' });
    const wrong = await bare(path, 'POST');
    expectProblem(wrong, 'method_not_allowed');
    expect(wrong.headers['allow']).toBe('GET, HEAD');
  }
  expect((await bare('/healthz')).json).toEqual({ status: 'ok' });
  expect((await bare('/readyz')).json).toEqual({
    status: 'ok',
    store: 'ok',
    redis: 'off',
    sealing: {
      lagSeconds: { page: expect.any(Number), session: expect.any(Number) },
      lastRunAt: expect.toBeOneOf([null, expect.any(String)]),
      measuredAt: expect.toBeOneOf([null, expect.any(String)]),
    },
  });
});
