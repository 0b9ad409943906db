import { expect, test } from 'vitest';
import { withService } from '../cases.ts';

const service = withService();
const create = (body: unknown) => service().ask('/api/v1/apps', { method: 'POST', body });

test('the app and its secret, this once', async () => {
  const answer = await create({ name: '  Blog ✍️ ', domain: 'HTTPS://Blog.Example:443/' });
  expect(answer.status).toBe(201);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers['etag']).toBeUndefined();
  expect(answer.json).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'Blog ✍️',
    domain: 'https://blog.example',
    access: 'owner',
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    secretKey: expect.stringMatching(/^app_secret_[A-Za-z0-9]{40}$/),
  });
  const list = await service().ask('/api/v1/apps');
  const { secretKey, ...summary } = answer.json as Record<string, unknown>;
  expect(list.json).toContainEqual(summary);
  expect(list.text).not.toContain(String(secretKey));
});

test('other ports and IDN hosts', async () => {
  const port = await create({ name: 'Staging', domain: 'http://shop.example:8080' });
  expect(port.json).toMatchObject({ domain: 'http://shop.example:8080' });
  const idn = await create({ name: 'مثال', domain: 'https://مثال.example' });
  expect(idn.json).toMatchObject({ name: 'مثال', domain: 'https://xn--mgbh0fb.example' });
});

test('from and to, which it does not list, are ignored', async () => {
  const body = { name: 'Docs', domain: 'https://docs.example' };
  const answer = await service().ask('/api/v1/apps?from=x&from=y&to=', { method: 'POST', body });
  expect(answer.status).toBe(201);
});
