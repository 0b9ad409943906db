import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestService, testService } from '../http/support.ts';
import { siteOf, storeAndAsk } from '../support/moving.ts';

// `npm run test:long` runs more, and the same over two processes.
const ROUNDS = 15;

let service: TestService;

beforeAll(async () => {
  service = await testService({ env: { PUBLIC_API_REQUESTS_PER_MINUTE: '1000000' } });
});
afterAll(() => service.close());

test('an acknowledged event is in every answer, and no older tag is confirmed, while three clients poll', {
  timeout: 0,
}, async () => {
  const nextSite = async () => siteOf([service.url], (await service.newAccount()).key);
  expect(await storeAndAsk(nextSite, ROUNDS)).toEqual([]);
});
