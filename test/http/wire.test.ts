import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withService } from './operations.ts';
import { expectProblem, parseRaw, sendRaw } from './support.ts';

const service = withService();
const raw = (...lines: string[]) => sendRaw(service().url, `${lines.join('\r\n')}\r\n\r\n`);

test('414: a URL that is too long, however long', async () => {
  for (const length of [9_000, 40_000, 60_000, 200_000, 5_000_000]) {
    const answer = await raw(
      `GET /api/v1/apps?x=${'y'.repeat(length)} HTTP/1.1`,
      'Host: a',
      'Connection: close',
    );
    expectProblem(answer, 'uri_too_long');
  }
});

test('a caller that is still sending a refused request gets the answer, and no reset', async () => {
  const { hostname, port } = new URL(service().url);
  const socket = connect(Number(port), hostname);
  // It rejects if the connection is reset.
  const received = text(socket).catch(String);
  socket.write(`GET /${'y'.repeat(100_000)}`);
  for (let piece = 0; piece < 5; piece++) {
    await sleep(10);
    socket.write('y'.repeat(100_000));
  }
  expectProblem(parseRaw(await received), 'uri_too_long');
  socket.destroy();
});

test('400: CONNECT, also if its connection is reset', async () => {
  const { hostname, port } = new URL(service().url);
  const connecting = ['CONNECT a:443 HTTP/1.1', 'Host: a'];
  expectProblem(await raw(...connecting), 'bad_request');
  for (let time = 0; time < 20; time++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(`${connecting.join('\r\n')}\r\n\r\n`);
    if (time % 2 === 0) await sleep(5);
    socket.resetAndDestroy();
  }
  await sleep(50);
  expect((await raw('GET /healthz HTTP/1.1', 'Host: a', 'Connection: close')).status).toBe(200);
});

test('100: a body is asked for when it is read, and not for a refused request', async () => {
  const { url, newAccount } = service();
  const { hostname, port } = new URL(url);
  const { key } = await newAccount();
  const body = JSON.stringify({ name: 'Shop', domain: 'https://shop.example' });
  const post = async (apiKey: string, ...more: string[]): Promise<string> => {
    const socket = connect(Number(port), hostname);
    socket.once('data', (first) => {
      if (String(first) === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(body);
    });
    const head = [
      'POST /api/v1/apps HTTP/1.1',
      'Host: a',
      `Authorization: Bearer ${apiKey}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      ...more,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    return text(socket);
  };
  expect(await post(key, 'Connection: close')).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  // The connection is closed: the caller need not send the rest.
  const refused = parseRaw(await post('wrong'));
  expectProblem(refused, 'unauthorized');
  expect(refused.headers['connection']).toBe('close');
});

test('431: headers that are too large, one or many', async () => {
  for (const length of [17_000, 70_000, 300_000]) {
    const answer = await raw(
      'GET /healthz HTTP/1.1',
      'Host: a',
      `X-Big: ${'y'.repeat(length)}`,
      'Connection: close',
    );
    expectProblem(answer, 'headers_too_large');
  }
  const many = Array.from({ length: 3_000 }, (_, i) => `X${i}: 1`);
  expectProblem(
    await raw('GET /healthz HTTP/1.1', 'Host: a', ...many, 'Connection: close'),
    'headers_too_large',
  );
});

test('400 bad_request: bytes that are not HTTP', async () => {
  const wrong = [
    ['nonsense'],
    ['GET /healthz HTTP/9.9', 'Host: a'],
    ['GET /healthz HTTP/1.1', 'Host: a', 'Bad Header: 1'],
    ['GET /healthz HTTP/1.1', 'Host: a', 'Content-Length: x'],
    ['POST /api/v1/apps HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Transfer-Encoding: chunked'],
    ['GET ftp://a/healthz HTTP/1.1', 'Host: a', 'Connection: close'],
    ['GET /healthz HTTP/1.1', 'Connection: close'],
    ['CONNECT a:443 HTTP/1.1', 'Host: a'],
    ['GET /healthz HTTP/1.1', 'Host: a', 'Host: b', 'Connection: close'],
    ['GET /healthz HTTP/1.1', 'Host: a', 'host: a', 'Connection: close'],
    ['GET http://a/healthz HTTP/1.1', 'Host: a', 'X: 1', 'HOST: a', 'Connection: close'],
    ['GET /healthz HTTP/1.0', 'Host: a', 'Host: b'],
  ];
  for (const lines of wrong) expectProblem(await raw(...lines), 'bad_request');
});

test('the absolute form of a target, HTTP/1.0 and unknown expectations are fine', async () => {
  expect((await raw('GET http://a/healthz HTTP/1.1', 'Host: a', 'Connection: close')).status).toBe(200);
  expect((await raw('GET /healthz HTTP/1.0')).status).toBe(200);
  expect(
    (await raw('GET /healthz HTTP/1.1', 'Host: a', 'Expect: the-best', 'Connection: close')).status,
  ).toBe(200);
  expect((await raw('GET http://a HTTP/1.1', 'Host: a', 'Connection: close')).status).toBe(302);
  expectProblem(await raw('GET http://a/nothing HTTP/1.1', 'Host: a', 'Connection: close'), 'not_found');
  expectProblem(await raw('OPTIONS * HTTP/1.1', 'Host: a', 'Connection: close'), 'not_found');
});

test('two Authorization headers are one too many, whichever is right', async () => {
  const right = `Authorization: Bearer ${service().key}`;
  const pairs = [
    [right, right],
    [right, 'authorization: Bearer x'],
    ['Authorization: x', right],
  ];
  for (const pair of pairs) {
    const answer = await raw('GET /api/v1/apps HTTP/1.1', 'Host: a', ...pair, 'Connection: close');
    expectProblem(answer, 'unauthorized');
  }
  expect((await raw('GET /api/v1/apps HTTP/1.1', 'Host: a', right, 'Connection: close')).status).toBe(200);
});
