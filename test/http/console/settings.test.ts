import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { testService } from '../support.ts';
import { asPage, BEHIND_PROXY, expectProblem, redeem } from './support.ts';

test('behind HTTPS the cookie is Secure, and pages come from that address', async () => {
  const site = await testService({ env: { ...BEHIND_PROXY, DASHBOARD_URL: 'https://stats.example/' } });
  const { token } = await site.metadata.createSignInLink(site.account, '');
  const headers = { Origin: 'https://stats.example' };
  const ask = { method: 'POST', body: { token } };
  expectProblem(await redeem(site, token), 'forbidden');
  const answer = await asPage(site, null, '/sign-in/link', { ...ask, headers });
  expect([answer.headers['set-cookie'] ?? []].flat()[0]).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);
  await site.close();
});

test('DASHBOARD=off: there is no console', async () => {
  const site = await testService({ env: { DASHBOARD: 'off' } });
  for (const path of [
    '/dashboard',
    '/dashboard/api/sign-in',
    '/dashboard/api/v1/apps',
    '/dashboard/api/session',
  ]) {
    expectProblem(await site.ask(path), 'not_found');
  }
  await site.close();
});

test.each([
  [{ DASHBOARD: 'no' }, 'DASHBOARD must be on or off'],
  [{ DASHBOARD_SECRET: 'short' }, 'DASHBOARD_SECRET must have at least 32 characters'],
  [{ OIDC_CLIENT_ID: 'x' }, 'set all three or none'],
  [
    { OIDC_ISSUER: 'http://login.example', OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'y' },
    'OIDC_ISSUER must start with https://',
  ],
])('the settings %j stop the start', (env, message) => {
  expect(() => readConfig(env)).toThrow(message);
});
