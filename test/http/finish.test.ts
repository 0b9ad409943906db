import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FinishingServer } from '../../src/http/server/finishing-server.ts';

/** Larger than the buffers at both ends of a connection. */
const LARGE = 'x'.repeat(32 * 1024 * 1024);

/** As long as a turn of the event loop of a loaded server may take. */
const BUSY_MS = 10;

function keepBusy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

let server: FinishingServer;
let url: string;
let port: number;
beforeEach(async () => {
  server = new FinishingServer({ keepAliveTimeout: 65_000 }, (req, res) => {
    if (req.url === '/busy') keepBusy(BUSY_MS);
    res.end(req.url === '/large' ? LARGE : 'small');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  url = `http://127.0.0.1:${port}/`;
});
afterEach(() => server.finish());

/** Returns everything that a caller who pauses once receives until the connection ends; rejects if it is reset. */
async function receivedSlowly(path: string, pauseMs: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('utf8');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  let text = '';
  socket.on('data', (chunk: string) => {
    if (text === '') {
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs);
    }
    text += chunk;
  });
  await once(socket, 'end');
  return text;
}

/** Connects and asks, counts the requests that were sent, and then sends what each connection received. */
const CALLERS = `
  const { connect } = require('node:net');
  const { parentPort, workerData: { port, sent } } = require('node:worker_threads');
  const received = () => new Promise((resolve) => {
    let text = '';
    const count = () => {
      Atomics.add(sent, 0, 1);
      Atomics.notify(sent, 0);
    };
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /busy HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n', count);
    socket.on('data', (chunk) => { text += chunk; });
    socket.on('error', (error) => resolve(String(error)));
    socket.on('end', () => resolve(text));
  });
  Promise.all(Array.from({ length: 50 }, received)).then((answers) => parentPort.postMessage(answers));
`;

test('a loaded server answers connections that still wait in the queue of the system', async () => {
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const callers = new Worker(CALLERS, { eval: true, workerData: { port, sent } });
  const answered = once(callers, 'message');
  // This thread, which is the server's, accepts none of them meanwhile.
  for (let before = 0; before < 50; before = Atomics.load(sent, 0)) Atomics.wait(sent, 0, before);
  await server.finish();
  const [answers] = (await answered) as [string[]];
  expect(answers).toHaveLength(50);
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*small$/);
});

test('an answer to a slow reader arrives whole', async () => {
  const answer = receivedSlowly('/large', 600);
  await sleep(200);
  await server.finish();
  expect((await answer).endsWith(LARGE)).toBe(true);
});

test('an idle connection does not delay the end', { timeout: 10_000 }, async () => {
  const agent = new Agent({ keepAlive: true });
  const ask = async (): Promise<unknown> => {
    const [res] = await once(request(url, { agent }).end(), 'response');
    res.resume();
    await once(res, 'end');
    return res.headers.connection;
  };
  expect(await ask()).toBe('keep-alive');
  await server.finish();
  await expect(ask()).rejects.toThrow();
  agent.destroy();
});
