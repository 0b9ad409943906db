import { afterAll, beforeAll, expect, test } from 'vitest';
import { wallClock } from '../../src/cli/wall-clock.ts';
import { createClient } from '../../src/client/index.ts';
import { startTestService } from '../../src/testing/index.ts';
import { remoteHands } from '../../src/testing/remote-hands.ts';
import { Garden } from '../../src/testing/seeding.ts';
import type { InProcessService } from '../../src/testing/types.ts';
import { expectProblem, send } from '../http/support.ts';
import { SEED } from './seed.ts';

/* A seed that is planted over HTTP only, as in a container. */

const MANAGEMENT_JWT_SECRET = 'a secret of at least 32 characters';

let service: InProcessService;
let garden: Garden;
beforeAll(async () => {
  service = await startTestService({ settings: { MANAGEMENT_JWT_SECRET } });
  const { url, managementUrl } = service;
  garden = new Garden(
    remoteHands({ url, managementUrl, managementSecret: MANAGEMENT_JWT_SECRET, clock: wallClock }),
  );
  await garden.plant(SEED);
});
afterAll(() => service.close());

test('becomes accounts, keys, apps, shares and events', async () => {
  const client = createClient({ baseUrl: service.url, apiKey: garden.account('Acme').apiKey });
  const { id: appId } = garden.app('Shop');
  expect((await client.listPageviews({ appId })).data).toEqual([
    { path: '/', views: 2, uniqueSessions: 2 },
    { path: '/pricing', views: 1, uniqueSessions: 1 },
  ]);
  const partner = createClient({ baseUrl: service.url, apiKey: garden.account('Partner').apiKey });
  expect((await partner.listApps()).data).toMatchObject([{ id: appId, access: 'shared' }]);
  const asked = { key: garden.account('Acme').key('old').apiKey };
  expectProblem(await send(service.url, '/api/v1/apps', asked), 'unauthorized');
  const path = `/api/v1/sessions/data-bounds?appId=${garden.app('Old shop').id}`;
  expectProblem(await send(service.url, path, { key: garden.account('Late').apiKey }), 'plan_blocked');
});

test('leaves the rate windows of its keys unused', async () => {
  await garden.plant({
    accounts: [{ name: 'Fresh', keys: [{ name: 'a', expiresAt: '2200-01-01T00:00:00Z' }] }],
  });
  const { headers } = await send(service.url, '/api/v1/apps', { key: garden.account('Fresh').apiKey });
  expect(headers['x-ratelimit-remaining']).toBe('119');
});

test('a refusal is passed on in the words of the service', async () => {
  const twice = { name: 'Twice', domain: 'https://twice.example' };
  await expect(garden.plant({ accounts: [{ name: 'Double', apps: [twice, twice] }] })).rejects.toThrow(
    /^POST \/api\/v1\/apps was answered with 409: .*already has an app for twice\.example/,
  );
});
