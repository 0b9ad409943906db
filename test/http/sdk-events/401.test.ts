import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem, type TestService, testService } from '../support.ts';
import { batchFor, post } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});
afterAll(() => service.close());

test.each([
  ['an unknown app', { appId: 'b2c1d0e9-0000-4000-8000-000000000000' }],
  ['an id that is no UUID', { appId: "x' OR 1" }],
  ['an empty id', { appId: '' }],
  ['a wrong secret', { secretKey: `app_secret_${'0'.repeat(40)}` }],
  ['a malformed secret', { secretKey: '\u0000' }],
  ['an empty secret', { secretKey: '' }],
])('%s', async (_, changes) => {
  expectProblem(await post(service, batchFor(service, changes)), 'unauthorized');
});

test("the account's API key is no app's secret", async () => {
  expectProblem(await post(service, batchFor(service, { secretKey: service.key })), 'unauthorized');
});

test('too many wrong credentials are said to be, and right ones still work', async () => {
  const wrong = batchFor(service, { secretKey: 'wrong' });
  for (let i = 0; i < 30; i++) await post(service, wrong);
  const answer = await post(service, wrong);
  expectProblem(answer, 'too_many_invalid_attempts');
  expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect((await post(service, batchFor(service))).status).toBe(200);
});
