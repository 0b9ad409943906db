import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './redis.ts';

/**
 * The treatment of a request by the proxy:
 * - `pass`: it is forwarded;
 * - `refuse`: the proxy does not listen, and connections are reset;
 * - `hang`: it is read and never answered;
 * - `delay`: the answer comes `delayMs` later;
 * - `reset`: the connection is reset once the request has arrived;
 * - `cut`: half of it reaches the target, then both connections are reset;
 * - `lose`: it reaches the target, and the connection is reset instead of the answer;
 * - `truncate`: the answer ends in the middle, and the connection closes without an error;
 * - `error-in-200`: a 200 whose body begins with rows and ends with an error of the server;
 * - `http-500`: a 500 with an error of the server;
 * - `bad-gateway`: a 502 in HTML, from a proxy;
 * - `slow`: the answer comes byte by byte, one per second.
 */
export type Fault =
  | 'pass'
  | 'refuse'
  | 'hang'
  | 'delay'
  | 'reset'
  | 'cut'
  | 'lose'
  | 'truncate'
  | 'error-in-200'
  | 'http-500'
  | 'bad-gateway'
  | 'slow';

export interface FaultProxy {
  /** The target's URL with the proxy's port. It never changes. */
  readonly url: string;
  delayMs: number;
  /** Takes effect with the next request. With `only`, all requests that do not match pass. */
  set(fault: Fault, only?: RegExp): Promise<void>;
  /** The requests sent to the target's port: head and body of each, URL-decoded. */
  readonly requests: readonly string[];
  /** Connections that the client closed before its request was answered. */
  readonly givenUp: number;
  /** Requests without an answer so far. */
  readonly unanswered: number;
  readonly connections: number;
  close(): Promise<void>;
}

const SQL = 'SELECT path, secret_column FROM analytics.events';
const ENGINE_ERROR = `Code: 1002. DB::Exception: Something broke while reading ${SQL}: (in file /var/lib/clickhouse/store/1). (UNKNOWN_EXCEPTION) (version 26.7.3.19)`;
const ROWS = '{"meta":[{"name":"path","type":"String"}],"data":[["/a"],["/b"]\n';

const answer = (status: string, body: string, headers = ''): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const CANNED: Partial<Record<Fault, string>> = {
  'error-in-200': answer('200 OK', `${ROWS}${ENGINE_ERROR}`),
  'http-500': answer('500 Internal Server Error', ENGINE_ERROR, 'X-ClickHouse-Exception-Code: 1002\r\n'),
  'bad-gateway': answer('502 Bad Gateway', `<html><h1>502 Bad Gateway</h1>${SQL}</html>`),
};

/**
 * A TCP proxy in front of an HTTP server, which makes it fail. Each connection carries one request at a time.
 */
export async function faultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const requests: string[] = [];
  const waits = new Set<() => boolean>();
  let [fault, only, givenUp]: [Fault, RegExp | null, number] = ['pass', null, 0];

  const serve = (client: Socket): void => {
    const upstream = createConnection(Number(port), hostname);
    let current: Fault = 'pass';
    let waiting = false;
    const isWaiting = () => waiting;
    waits.add(isWaiting);
    let text = '';
    /** Of this connection's request among all. */
    let place = -1;
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        if (socket === client && waiting) givenUp++;
        waits.delete(isWaiting);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      const begins = !waiting;
      text = begins ? chunk.toString('latin1') : text + chunk.toString('latin1');
      waiting = true;
      if (begins) place = requests.push('') - 1;
      requests[place] = readable(text);
      current = only === null || only.test(readable(text)) ? fault : 'pass';
      const canned = CANNED[current];
      if (current === 'reset' || current === 'refuse') client.resetAndDestroy();
      else if (current === 'cut') cut(chunk, upstream, client);
      else if (canned !== undefined && isWhole(text)) {
        waiting = false;
        client.write(canned);
      } else if (current !== 'hang' && canned === undefined) upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      const send = (bytes: Buffer): void => {
        waiting = false;
        if (client.writable) client.write(bytes);
      };
      if (current === 'lose') client.resetAndDestroy();
      else if (current === 'truncate') {
        waiting = false;
        client.end(chunk.subarray(0, Math.max(1, chunk.length - 20)));
      } else if (current === 'delay') setTimeout(send, proxy.delayMs, chunk);
      else if (current === 'slow') dribble(client, chunk, () => (waiting = false));
      else send(chunk);
    });
  };

  let server = await listen(serve, await freePort());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.resetAndDestroy();
    await closed;
  };
  const proxy = {
    url: target.replace(`:${port}`, `:${address.port}`),
    delayMs: 500,
    requests,
    get givenUp() {
      return givenUp;
    },
    get unanswered() {
      return [...waits].filter((isWaiting) => isWaiting()).length;
    },
    get connections() {
      return open.size / 2;
    },
    set: async (next: Fault, matching?: RegExp) => {
      const wasRefusing = !server.listening;
      fault = next;
      only = matching ?? null;
      if (next === 'refuse' && matching === undefined) await stop();
      else if (wasRefusing) server = await listen(serve, address.port);
    },
    close: async () => {
      if (server.listening) await stop();
    },
  };
  return proxy;
}

function listen(serve: (socket: Socket) => void, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(serve);
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

/** Decodes the statement and params of a request. */
function readable(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** True if the text is complete, by its Content-Length or its last chunk. */
function isWhole(text: string): boolean {
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s, 2);
  const [, length] = /content-length: (\d+)/i.exec(head) ?? [];
  return length === undefined
    ? !/chunked/i.test(head) || body.endsWith('0\r\n\r\n')
    : body.length >= Number(length);
}

function cut(chunk: Buffer, upstream: Socket, client: Socket): void {
  upstream.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => {
    upstream.resetAndDestroy();
    client.resetAndDestroy();
  });
}

function dribble(client: Socket, chunk: Buffer, done: () => void): void {
  let at = 0;
  const timer = setInterval(() => {
    if (at >= chunk.length || !client.writable) {
      clearInterval(timer);
      if (at >= chunk.length) done();
      return;
    }
    client.write(chunk.subarray(at, ++at));
  }, 1_000);
  timer.unref();
  client.once('close', () => clearInterval(timer));
}
