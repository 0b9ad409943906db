import { expect, test } from 'vitest';
import { withService } from '../cases.ts';
import { expectProblem } from '../support.ts';

const service = withService();
const create = (headers: Record<string, string>) =>
  service().ask('/api/v1/apps', {
    method: 'POST',
    headers,
    body: '{"name":"B","domain":"https://b.example"}',
  });

test('anything but JSON in UTF-8', async () => {
  const wrong = [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    { 'Content-Type': 'application/json5' },
    { 'Content-Type': 'application/json; charset=utf-16' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
  ];
  for (const headers of wrong) expectProblem(await create(headers), 'unsupported_media_type');
  const { key, url } = service();
  const untyped = await fetch(`${url}/api/v1/apps?other=1`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}` },
  });
  expect(untyped.status).toBe(415);
});

test('a charset in any spelling', async () => {
  expect((await create({ 'Content-Type': 'Application/JSON;charset="UTF-8"' })).status).toBe(201);
});
