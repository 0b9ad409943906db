import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem, type TestService, testService } from '../support.ts';
import { batchFor, post } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});
afterAll(() => service.close());

test.each([
  'https://other.example',
  'https://notshop.example',
  'https://shop.example.evil.example',
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
])('a page at %s may not send, nor read why', async (origin) => {
  const answer = await post(service, batchFor(service), { Origin: origin });
  expectProblem(answer, 'app_access_denied');
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
});

test('nothing of it is stored', async () => {
  const { json } = await service.ask(`/api/v1/sessions/data-bounds?appId=${service.app}`);
  expect(json).toEqual({ oldest: null, newest: null });
});
