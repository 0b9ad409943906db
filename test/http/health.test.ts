import { expect, test } from 'vitest';
import { withService } from './cases.ts';
import { expectProblem } from './support.ts';

const service = withService();
const ask = (path: string, method = 'GET') => service().ask(path, { key: null, method });

test('no key, no limit, HEAD too, other methods not', async () => {
  for (const path of ['/healthz', '/readyz', '/openapi.json']) {
    const answer = await ask(path);
    expect(answer.status).toBe(200);
    expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
    expect(answer.headers['x-request-id']).toBeDefined();
    expect(await ask(path, 'HEAD')).toMatchObject({ status: 200, text: '' });
    const wrong = await ask(path, 'POST');
    expectProblem(wrong, 'method_not_allowed');
    expect(wrong.headers['allow']).toBe('GET, HEAD');
  }
  expect((await ask('/healthz')).json).toEqual({ status: 'ok' });
  expect((await ask('/readyz')).json).toEqual({
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
