import { afterAll, beforeAll, test } from 'vitest';
import { expectProblem, type TestService, testService } from '../support.ts';
import { batchFor, post } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});
afterAll(() => service.close());

test.each([
  'application/x-www-form-urlencoded',
  'application/jsonp',
  'text/html',
  'text/plain; charset=utf-16',
])('%s', async (type) => {
  expectProblem(await post(service, batchFor(service), { 'Content-Type': type }), 'unsupported_media_type');
});
