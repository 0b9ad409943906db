import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem, type TestService, testService } from '../support.ts';
import { PATH } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});
afterAll(() => service.close());

test.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s', async (method) => {
  const answer = await service.ask(PATH, { method, key: null });
  expectProblem(answer, 'method_not_allowed');
  expect(answer.headers['allow']).toBe('POST, OPTIONS');
});

test.each([`${PATH}/`, '/SDK/v1/events'])('%s is nothing', async (path) => {
  expectProblem(await service.ask(path, { method: 'POST', key: null, body: {} }), 'not_found');
});
