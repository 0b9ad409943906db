import { expect, test } from 'vitest';
import { withService } from './operations.ts';
import { type Answer, expectProblem } from './support.ts';

const service = withService({ env: { TRUST_PROXY: '1' }, now: '2026-11-20T00:00:00Z' });
const from = (address: string, key: string | null = 'wrong'): Promise<Answer> =>
  service().ask('/api/v1/apps', { key, headers: { 'X-Forwarded-For': address } });

test('more than 30 in 60 s from an address, counted from the first', async () => {
  for (let i = 0; i < 30; i++) expectProblem(await from('198.51.100.1'), 'unauthorized');
  service().clock.advance(45_000);
  const answer = await from('198.51.100.1');
  expectProblem(answer, 'too_many_invalid_attempts');
  expect(answer.headers['retry-after']).toBe('15');
  // An app's secret is a wrong credential too.
  expectProblem(await from('198.51.100.1', service().secretKey), 'too_many_invalid_attempts');

  // A missing header is no attempt; a valid key still works; another address is counted alone.
  expectProblem(await from('198.51.100.1', null), 'unauthorized');
  expect((await from('198.51.100.1', service().key)).status).toBe(200);
  expectProblem(await from('198.51.100.2'), 'unauthorized');
  // The address that the proxy saw counts, not the one before it, which the caller wrote.
  expectProblem(await from('198.51.100.9, 198.51.100.1'), 'too_many_invalid_attempts');
  expectProblem(await from('198.51.100.1, 198.51.100.9'), 'unauthorized');

  service().clock.advance(15_000);
  expectProblem(await from('198.51.100.1'), 'unauthorized');
});

test('missing headers are not counted', async () => {
  for (let i = 0; i < 40; i++) expectProblem(await from('198.51.100.3', null), 'unauthorized');
});
