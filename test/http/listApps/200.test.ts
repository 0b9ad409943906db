import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestService, testService } from '../support.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});
afterAll(() => service.close());

test('own and shared apps by createdAt, without secrets', async () => {
  const other = await service.newAccount();
  const shared = await service.ask('/api/v1/apps', {
    method: 'POST',
    key: other.key,
    body: { name: 'Blog', domain: 'http://BLOG.example:8080/' },
  });
  const { id } = shared.json as { id: string };
  await service.metadata.shareApp(id as never, service.account);
  const answer = await service.ask('/api/v1/apps');
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject([
    { id: service.app, name: 'Shop', domain: 'https://shop.example', access: 'owner' },
    { id, name: 'Blog', domain: 'http://blog.example:8080', access: 'shared' },
  ]);
});
