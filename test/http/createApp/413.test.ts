import { expect, test } from 'vitest';
import { withService } from '../cases.ts';
import { expectInvalid, expectProblem, send, sendRaw } from '../support.ts';

const service = withService();
const KIB = 1024;
/** JSON of exactly `bytes` bytes. */
const sized = (bytes: number): string => `{"name":"${'x'.repeat(bytes - 11)}"}`;
const create = (body: string, headers = {}) =>
  service().ask('/api/v1/apps', { method: 'POST', body, headers });

test('over 100 KiB, with and without a length', async () => {
  expect(expectInvalid(await create(sized(100 * KIB))).map(({ field }) => field)).toEqual(['name', 'domain']);
  expectProblem(await create(sized(100 * KIB + 1)), 'payload_too_large');
  const chunked = await send(service().url, '/api/v1/apps', {
    method: 'POST',
    key: service().key,
    headers: { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json' },
    body: sized(100 * KIB + 1),
  });
  expectProblem(chunked, 'payload_too_large');
});

test('a body that says it is huge is not read', async () => {
  const { hostname, port } = new URL(service().url);
  const head = [
    'POST /api/v1/apps HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${service().key}`,
    'Content-Type: application/json',
    'Content-Length: 10000000000',
  ];
  const answer = await sendRaw(service().url, `${head.join('\r\n')}\r\n\r\n{`);
  expectProblem(answer, 'payload_too_large');
  expect(answer.headers['connection']).toBe('close');
});

test('comes before 400', async () => {
  const answer = await service().ask('/api/v1/apps?other=1', { method: 'POST', body: sized(101 * KIB) });
  expectProblem(answer, 'payload_too_large');
});
