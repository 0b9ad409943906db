import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestService, testService } from '../http/support.ts';
import { siteOf, storeAndAsk } from '../support/moving.ts';

const ROUNDS = Number(process.env['MOVING_ROUNDS'] ?? 50);

let service: TestService;

beforeAll(async () => {
  service = await testService({ env: { PUBLIC_API_REQUESTS_PER_MINUTE: '1000000' } });
});
afterAll(() => service.close());

test('every answer has all acknowledged events, and no 304 confirms one without them, while three poll', {
  timeout: 0,
}, async () => {
  const nextSite = async () => siteOf([service.url], (await service.newAccount()).key);
  expect(await storeAndAsk(nextSite, ROUNDS)).toEqual([]);
});
