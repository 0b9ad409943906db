import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem, type TestService, testService } from '../support.ts';
import { batchFor, post, visit } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});
afterAll(() => service.close());

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
  const answer = await post(service, batchFor(service, changes));
  expectProblem(answer, 'validation_failed');
  expect(answer.json).toMatchObject({ errors: [{ field, message: expect.any(String) }] });
});

test.each(['', '{', '[]', 'null', '"text"', '{"appId":1}x'])('no envelope at all: %j', async (body) => {
  expectProblem(await post(service, body), 'validation_failed');
});

test('a page hears what is wrong', async () => {
  const answer = await post(service, {}, { Origin: 'https://shop.example' });
  expectProblem(answer, 'validation_failed');
  expect(answer.headers['access-control-allow-origin']).toBe('https://shop.example');
});
