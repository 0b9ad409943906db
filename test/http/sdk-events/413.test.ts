import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem, type TestService, testService } from '../support.ts';
import { batchFor, post } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});
afterAll(() => service.close());

const ofSize = (bytes: number): string => {
  const text = JSON.stringify(batchFor(service, { padding: '' }));
  return text.replace('"padding":""', `"padding":"${'x'.repeat(bytes - text.length)}"`);
};

test('1 MiB is a body', async () => {
  expect((await post(service, ofSize(1_048_576))).status).toBe(200);
});

test('a byte more is none', async () => {
  expectProblem(await post(service, ofSize(1_048_577)), 'payload_too_large');
});
