import { createConnection, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchOf, type Running, running, type Tenant } from '../faults/support.ts';
import { type Answer, expectProblem, parseRaw } from '../http/support.ts';

let service: Running;
let tenant: Tenant;
/** Opened first, because the server's timeouts take a while. */
let halfOpen: readonly Talk[];

beforeAll(async () => {
  service = await running();
  tenant = await service.newTenant();
  const starts = [
    '',
    'GET /healthz HTTP/1.1\r\nHost: a\r\n',
    'POST /sdk/v1/events HTTP/1.1\r\nHost: a\r\nX: ',
  ];
  halfOpen = Array.from({ length: 300 }, (_, i) => talk(starts[i % starts.length] ?? ''));
  await Promise.all(halfOpen.map(({ opened }) => opened));
});
afterAll(() => service?.remove());

interface Talk {
  readonly socket: Socket;
  readonly opened: Promise<unknown>;
  /** Everything received, once the server has closed the connection. */
  readonly closed: Promise<string>;
  readonly received: () => string;
}

function talk(bytes: string): Talk {
  const { hostname, port } = new URL(service.url);
  const socket = createConnection(Number(port), hostname);
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', () => undefined);
  const opened = new Promise((resolve) => {
    socket.once('connect', () => {
      if (bytes !== '') socket.write(bytes, 'latin1');
      resolve(undefined);
    });
  });
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  return { socket, opened, closed, received: () => received };
}

const statuses = (received: string): number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

describe('requests that two servers could read differently', () => {
  const smuggled = 'GET /readyz HTTP/1.1\r\nHost: a\r\nX-Request-Id: smuggled\r\n\r\n';
  const post = (...headers: string[]): string =>
    ['POST /sdk/v1/events HTTP/1.1', 'Host: a', 'Content-Type: application/json', ...headers, '', ''].join(
      '\r\n',
    );
  const chunked = `0\r\n\r\n${smuggled}`;
  const shapes: Record<string, string> = {
    'Content-Length and Transfer-Encoding': post('Content-Length: 4', 'Transfer-Encoding: chunked') + chunked,
    'Transfer-Encoding and Content-Length': post('Transfer-Encoding: chunked', 'Content-Length: 4') + chunked,
    'two lengths': `${post('Content-Length: 2', 'Content-Length: 40')}{}${smuggled}`,
    'two equal lengths': `${post('Content-Length: 2', 'Content-Length: 2')}{}${smuggled}`,
    'a list of lengths': `${post('Content-Length: 2, 2')}{}${smuggled}`,
    'a signed length': `${post('Content-Length: +2')}{}${smuggled}`,
    'a negative length': `${post('Content-Length: -2')}{}${smuggled}`,
    'a hexadecimal length': `${post('Content-Length: 0x2')}{}${smuggled}`,
    'a length that overflows': `${post('Content-Length: 18446744073709551618')}{}${smuggled}`,
    'an unknown coding': post('Transfer-Encoding: xchunked') + chunked,
    'chunked that is not last': post('Transfer-Encoding: chunked, identity') + chunked,
    'chunked twice': post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked, x') + chunked,
    'a space before the colon': post('Transfer-Encoding : chunked') + chunked,
    'a folded header': post('X: 1', ' Transfer-Encoding: chunked', 'Content-Length: 2') + chunked,
    'a control character in a name': post('Transfer\u0001-Encoding: chunked', 'Content-Length: 2') + chunked,
    'NUL in a value': post('X: a\u0000b', 'Content-Length: 2') + chunked,
    'an invalid chunk size': `${post('Transfer-Encoding: chunked')}2x\r\n{}\r\n${chunked}`,
    'a chunk size that overflows': `${post('Transfer-Encoding: chunked')}fffffffffffffffff2\r\n{}\r\n${chunked}`,
    'a chunk that is longer than its size': `${post('Transfer-Encoding: chunked')}1\r\n{}\r\n${chunked}`,
    'lines that end in a bare LF': `POST /sdk/v1/events HTTP/1.1\nHost: a\nContent-Length: 2\n\n{}${smuggled}`,
    'a bare CR in a value': post('X: 1\rTransfer-Encoding: chunked', 'Content-Length: 2') + chunked,
    'two hosts in the request line': `GET http://a\thttp://b HTTP/1.1\r\nHost: a\r\n\r\n${smuggled}`,
    'an invalid version': `GET /healthz HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n${smuggled}`,
  };

  test.each(Object.entries(shapes))('%s: one refusal, and the connection ends', async (_, bytes) => {
    const received = await talk(bytes).closed;
    expect(statuses(received)).toEqual([400]);
    expect(received).not.toContain('smuggled');
    const answer = parseRaw(received);
    expectProblem(answer, 'bad_request');
    expect(answer.headers['connection']).toBe('close');
  });
});

test('pipelined requests are answered in their order, each once', async () => {
  const paths = ['/healthz', '/readyz', '/nothing', `/api/v1/sessions/pageviews?appId=${tenant.app.id}`];
  const count = 40;
  const bytes = Array.from({ length: count }, (_, i) => {
    const last = i === count - 1 ? 'Connection: close\r\n' : '';
    return `GET ${paths[i % 4]} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\nX-Request-Id: n${i}\r\n${last}\r\n`;
  }).join('');
  const received = await talk(bytes).closed;
  expect(statuses(received)).toEqual(Array.from({ length: count }, (_, i) => (i % 4 === 2 ? 404 : 200)));
  expect([...received.matchAll(/^x-request-id: (n\d+)/gim)].map(([, id]) => id)).toEqual(
    Array.from({ length: count }, (_, i) => `n${i}`),
  );
});

test('a request that is cut off in its body changes nothing, and the service goes on', async () => {
  const body = JSON.stringify({ name: 'Half', domain: 'https://half.example' });
  const cut = talk(
    `POST /api/v1/apps HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length + 1}\r\n\r\n${body}`,
  );
  await cut.opened;
  cut.socket.destroy();
  await cut.closed;
  const apps = await service.ask('/api/v1/apps', { key: tenant.key });
  expect(apps.text).not.toContain('half.example');
});

test('many bodies at once are bounded: some are refused, and their memory is freed', async () => {
  const text = JSON.stringify({ ...batchOf(tenant.app, ['/a']), padding: 'x'.repeat(1_000_000) });
  const head = `POST /sdk/v1/events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n`;
  // All but the last byte.
  const talks = Array.from({ length: 150 }, () => talk(head + text.slice(0, -1)));
  const refused = (): Answer[] =>
    talks.map(({ received }) => parseRaw(received())).filter(({ status }) => status > 0);
  await expect.poll(() => refused().length).toBeGreaterThan(0);
  for (const answer of refused()) expectProblem(answer, 'overloaded');
  expect((await service.ask('/healthz')).status).toBe(200);
  for (const { socket } of talks) socket.destroy();
  await Promise.all(talks.map(({ closed }) => closed));
  await expect.poll(async () => (await service.record(tenant.app, ['/a'])).status).toBe(200);
});

test('silent and half-open connections delay no request and are closed', async () => {
  expect((await service.ask('/api/v1/apps', { key: tenant.key })).status).toBe(200);
  const received = await Promise.all(halfOpen.map(({ closed }) => closed));
  for (const text of received) {
    if (text !== '') expectProblem(parseRaw(text), 'bad_request');
  }
  expect((await service.ask('/api/v1/apps', { key: tenant.key })).status).toBe(200);
});
