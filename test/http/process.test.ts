import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createConnection } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeFolder } from '../../src/remove-folder.ts';
import { PROGRAM } from '../support/program.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';
import { credentialsIn, expectProblem, parseRaw, send, sendRaw } from './support.ts';

let dataDir: string;
let service: ServiceProcess;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'analytics-process-'));
  service = await serviceProcess({ DATA_DIR: dataDir, LOG_LEVEL: 'debug' });
});
afterEach(async () => {
  await service.kill();
  removeFolder(dataDir);
});

async function newKey(): Promise<string> {
  const { accountId } = (await service.admin('account', 'create', '--name', 'Acme')) as { accountId: string };
  const { apiKey } = (await service.admin('key', 'create', '--account', accountId)) as { apiKey: string };
  return apiKey;
}

test('the output holds no key, secret or Authorization value, wherever it was sent', async () => {
  const key = await newKey();
  const { url } = service;
  const created = await send(url, '/api/v1/apps', {
    method: 'POST',
    key,
    body: { name: 'A', domain: 'https://a.example' },
  });
  const { id, secretKey } = created.json as { id: string; secretKey: string };
  const secretFile = join(dataDir, 'management.jwt');
  expect(statSync(secretFile).mode & 0o777).toBe(0o600);
  const secret = readFileSync(secretFile, 'utf8').trim();
  const asks = [
    send(url, `/api/v1/${key}`, { key }),
    send(url, `/${secretKey}?key=${key}`, { headers: { Cookie: `k=${key}`, Referer: `https://x/${key}` } }),
    send(url, `/api/v1/apps?${key}=1&appId=${secretKey}`, { key, headers: { 'X-Request-Id': `${key}!` } }),
    send(url, '/api/v1/apps', { key: secretKey }),
    send(url, '/api/v1/apps', { headers: { Authorization: `Basic ${secret}` } }),
    send(url, '/api/v1/apps', { method: 'POST', key, body: `{"name":"${key}", "domain":${secretKey}` }),
    send(url, '/api/v1/apps', {
      method: 'POST',
      key,
      body: { [key]: secretKey, name: key, domain: secretKey },
    }),
    send(url, '/sdk/v1/events', {
      method: 'POST',
      body: { appId: id, secretKey, batchId: key, sessions: [] },
    }),
    send(url, '/sdk/v1/events', { method: 'POST', body: `{"secretKey":"${secretKey}"` }),
    sendRaw(url, `GET /${key} HTTP/1.1\r\nAuthorization Bearer ${key}\r\n\r\n`),
  ];
  await Promise.all(asks);
  expect(await service.stop()).toBe(0);
  const output = service.output();
  expect(output).toContain('"stopped"');
  expect(output.split('\n').length).toBeGreaterThan(asks.length);
  expect(credentialsIn(output)).toEqual([]);
  for (const known of [key, secretKey, secret, key.slice(12), secretKey.slice(11)])
    expect(output).not.toContain(known);
});

test.runIf(process.platform === 'linux')("the event loop's thread runs before all others", async () => {
  await newKey();
  const tasks = `/proc/${service.pid}/task`;
  const priorities = readdirSync(tasks).flatMap((thread) => {
    try {
      return [{ isEventLoop: Number(thread) === service.pid, nice: getPriority(Number(thread)) }];
    } catch {
      // The thread has ended.
      return [];
    }
  });
  const [loop] = priorities.filter(({ isEventLoop }) => isEventLoop);
  const others = priorities.filter(({ isEventLoop }) => !isEventLoop);
  expect(others.length).toBeGreaterThan(20);
  // Nothing is behind 19.
  const behind = Math.min(19, (loop?.nice ?? 0) + 1);
  expect(others.filter(({ nice }) => nice < behind)).toEqual([]);
});

test('a second signal changes nothing: the log says once that the service stops', async () => {
  process.kill(service.pid, 'SIGTERM');
  process.kill(service.pid, 'SIGINT');
  expect(await service.stop()).toBe(0);
  const said = service.output().match(/"msg":"stop\w+"/g);
  expect(said).toEqual(['"msg":"stopping"', '"msg":"stopped"']);
});

test('SIGTERM: begun requests are answered, /readyz fails, new connections are refused', async () => {
  const key = await newKey();
  const { hostname, port } = new URL(service.url);
  const open = (head: string) => {
    const socket = createConnection(Number(port), hostname);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    const ended = once(socket, 'close').then(() => parseRaw(received));
    socket.write(head);
    const finish = (rest: string) => {
      socket.write(rest);
      return ended;
    };
    return { finish };
  };
  const body = '{"name":"A","domain":"https://a.example"}';
  const post = open(
    `POST /api/v1/apps HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{`,
  );
  const ready = open('GET /readyz HTTP/1.1\r\nHost: a\r\n');
  // Answered after the two have arrived.
  expect((await send(service.url, '/readyz', {})).status).toBe(200);
  const exit = service.stop();
  while (await accepts(Number(port), hostname)) await sleep(10);

  expectProblem(await ready.finish('\r\n'), 'overloaded');
  expect((await post.finish(body.slice(1))).status).toBe(201);
  expect(await exit).toBe(0);
});

const accepts = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(port, host, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

test('wrong settings, a taken port, a locked folder: one message and exit 1', async () => {
  const start = async (env: Record<string, string>) => {
    const child = spawn(PROGRAM, ['serve'], {
      env: { PATH: process.env['PATH'], MANAGEMENT_PORT: '0', ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let message = '';
    child.stderr.on('data', (text: Buffer) => {
      message += text.toString();
    });
    const [code] = await once(child, 'close');
    return { code, message };
  };
  const wrong = await start({ PORT: '0x10', LOG_LEVEL: 'loud' });
  expect(wrong).toEqual({
    code: 1,
    message: expect.stringMatching(/^Wrong settings:\n {2}PORT .*\n {2}LOG_LEVEL .*\n$/),
  });
  const other = mkdtempSync(join(tmpdir(), 'analytics-process-'));
  const taken = await start({ PORT: new URL(service.url).port, DATA_DIR: other });
  expect(taken).toEqual({
    code: 1,
    message: expect.stringMatching(/^Cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.*\n$/),
  });
  removeFolder(other);
  // The engine prints its own messages first.
  const locked = await start({ PORT: '0', DATA_DIR: dataDir });
  expect(locked).toEqual({ code: 1, message: expect.stringMatching(/\nCannot open the store in .*\n$/) });
});
