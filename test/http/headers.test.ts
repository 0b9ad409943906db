import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestService, testService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService();
});
afterAll(() => service.close());

/** The answer to text that is no request. */
const answerTo = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });

test('no browser takes an answer for another type than it says', async () => {
  const path = `/api/v1/sessions/pageviews?appId=${service.app}`;
  const answers = await Promise.all([
    service.ask(path),
    service.ask(path, { headers: { Accept: 'text/csv' } }),
    service.ask(path, { headers: { Accept: 'application/x-ndjson' } }),
    service.ask('/api/v1/nothing'),
    service.ask('/healthz'),
    service.ask('/sdk.js'),
    service.ask('/docs'),
    service.ask(path, { headers: { Authorization: 'Bearer wrong' } }),
  ]);
  for (const { headers, status } of answers) {
    expect([status, headers['x-content-type-options']]).toEqual([status, 'nosniff']);
  }
  for (const text of ['nothing\r\n\r\n', `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`]) {
    expect(await answerTo(text)).toMatch(/^HTTP\/1\.1 4\d\d [\s\S]*\r\nX-Content-Type-Options: nosniff\r\n/i);
  }
});

test('pages of every site may load the SDK, also with `crossorigin`', async () => {
  const { headers, status } = await service.ask('/sdk.js');
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  });
});
