import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { SessionAnalyticsContainer } from '../../src/testing/index.ts';
import type { TestService } from '../../src/testing/types.ts';
import { SEED } from '../kit/seed.ts';

/* The kit's container. Needs a Docker engine with an image `session-analytics`, which `docker build` makes. */

let service: TestService;
beforeAll(async () => {
  service = await new SessionAnalyticsContainer()
    .withSeed(SEED)
    .withSettings({ PUBLIC_API_REQUESTS_PER_MINUTE: '7' })
    .start();
});
afterAll(() => service.close());

test('a seeded container answers', async () => {
  const client = createClient({ baseUrl: service.url, apiKey: service.account('Acme').apiKey });
  const { data, rateLimit } = await client.listPageviews({ appId: service.app('Shop').id });
  expect(rateLimit).toMatchObject({ limit: 7, remaining: 6 });
  expect(data).toEqual([
    { path: '/', views: 2, uniqueSessions: 2 },
    { path: '/pricing', views: 1, uniqueSessions: 1 },
  ]);
});

test('events that are added later count too', async () => {
  const appId = service.app('Blog').id;
  const session = { startedAt: '2026-11-19T10:00:00Z', events: [{ type: 'pageview', path: '/' }] } as const;
  expect(await service.record('Blog', [session])).toBe(1);
  const client = createClient({ baseUrl: service.url, apiKey: service.account('Acme').apiKey });
  expect((await client.listPageviews({ appId })).data).toHaveLength(1);
});

test('a container that cannot start says what is missing', async () => {
  const missing = new SessionAnalyticsContainer('127.0.0.1:1/no-such-image:none');
  await expect(missing.start()).rejects.toThrow(
    /^The container of 127\.0\.0\.1:1\/no-such-image:none did not start: .* docker build /s,
  );
});

test('a seed that is refused leaves no container', async () => {
  let id = '';
  const refused = new SessionAnalyticsContainer()
    .withSeed({ accounts: [{ name: '' }] })
    .withContainer((container: { withLabels(labels: object): typeof container }) => {
      id = `seed-${process.pid}`;
      return container.withLabels({ test: id });
    });
  await expect(refused.start()).rejects.toThrow('account : name: must not be empty');
  const { getContainerRuntimeClient } = await import('testcontainers');
  const { container } = await getContainerRuntimeClient();
  expect(await container.fetchByLabel('test', id)).toBeUndefined();
});
