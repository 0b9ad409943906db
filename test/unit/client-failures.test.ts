import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  AbortError,
  AnswerError,
  ApiError,
  type Client,
  ClientError,
  type ClientOptions,
  ConnectionError,
  createClient,
  InputError,
  TimeoutError,
} from '../../src/client/index.ts';

// Each failure is one of the client's own errors: over real connections, since `fetch` has many ways to fail.

let server: Server;
let answer: RequestListener;
/** An address where nobody listens. */
let closed: string;
const seen: Parameters<RequestListener>[0][] = [];
beforeAll(async () => {
  server = createServer((req, res) => {
    seen.push(req);
    answer(req, res);
  });
  const other = createServer();
  for (const each of [server, other]) {
    await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve));
  }
  closed = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  await new Promise((resolve) => other.close(resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const baseUrl = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const clientOf = (options: Partial<ClientOptions> = {}): Client =>
  createClient({ baseUrl: baseUrl(), apiKey: 'service_api_x', maxRetries: 0, ...options });

/** Answers with these headers and this text. */
const says =
  (status: number, headers: Readonly<Record<string, string>>, text = ''): RequestListener =>
  (_, res) => {
    res.writeHead(status, headers);
    res.end(text);
  };
const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
const HTML = { 'Content-Type': 'text/html' };

const CALLS: Readonly<Record<string, (client: Client, signal?: AbortSignal) => Promise<unknown>>> = {
  'a question': (client, signal) => client.listPageviews({ appId: 'a' }, { signal }),
  createApp: (client, signal) => client.createApp({ name: 'a', domain: 'https://a.example' }, { signal }),
  'a download': (client, signal) =>
    client.download('listPageviews', { appId: 'a' }, { format: 'parquet', signal }),
  live: (client, signal) => client.live('listPageviews', { appId: 'a' }, { signal, giveUpAfterMs: 0 }).next(),
  poll: (client, signal) => client.poll('listPageviews', { appId: 'a' }, { signal, giveUpAfterMs: 0 }).next(),
};
/** How a call fails when the service answers so. */
const failing = async (call: string, listener: RequestListener, options: Partial<ClientOptions> = {}) => {
  answer = listener;
  const error = await CALLS[call]?.(clientOf(options)).then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(ClientError);
  expect(String(error)).not.toContain('service_api_x');
  return error;
};

describe.each(Object.keys(CALLS))('%s', (call) => {
  test.each([
    ['a page with status 200', says(call === 'createApp' ? 201 : 200, HTML, '<html>'), 'with text/html'],
    ['no content type', says(call === 'createApp' ? 201 : 200, {}, '[]'), 'answered with nothing'],
    [
      'a redirect',
      says(302, { Location: 'https://sso.example/in?token=t' }),
      'redirect to https://sso.example/in.',
    ],
    ['a permanent redirect', says(308, { Location: '/api' }), 'redirect to /api.'],
    ['a status without an answer', says(204, {}), 'status 204'],
    ['a 304 that nobody asked for', says(304, {}), 'status 304'],
  ])('%s is an AnswerError', async (_, listener, message) => {
    const error = await failing(call, listener);
    expect(error).toBeInstanceOf(AnswerError);
    expect(String(error)).toContain(message);
  });

  test('a break before the answer is a ConnectionError', async () => {
    const error = await failing(call, (req) => req.socket.destroy());
    expect(error).toBeInstanceOf(ConnectionError);
  });

  test('a silence is a TimeoutError', async () => {
    const error = await failing(call, () => undefined, { timeoutMs: 50 });
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toContain('within 50 ms');
  });

  test.each([
    ['a refused connection', () => closed, /^ECONNREFUSED$/],
    ['an unknown name', () => 'http://nowhere.invalid', /^(ENOTFOUND|EAI_AGAIN)$/],
  ])('%s is a ConnectionError with a code', async (_, url, code) => {
    const error = await failing(call, () => undefined, { baseUrl: url() });
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: expect.stringMatching(code) });
  });

  test("a refusal is an ApiError, whatever a proxy's page holds", async () => {
    const problem = { 'Content-Type': 'application/problem+json' };
    const fields = JSON.stringify({
      code: 'not_found',
      detail: 7,
      errors: 'none',
      nearest: null,
      requestId: 'r',
    });
    for (const [headers, text, code] of [
      [HTML, '<html>', null],
      [problem, '{"code":', null],
      [problem, 'null', null],
      [problem, fields, 'not_found'],
    ] as const) {
      const error = await failing(call, says(404, headers, text));
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status: 404, code, detail: '', errors: [] });
    }
    const broken = await failing(call, (_, res) => {
      res.writeHead(403, { ...problem, 'Content-Length': 100 });
      res.write('{"code":');
      setTimeout(() => res.destroy(), 20);
    });
    expect(broken).toMatchObject({ name: 'ApiError', status: 403 });
  });
});

describe('an abort', () => {
  test.each(['a question', 'createApp', 'a download'])(
    'of %s is an AbortError with its reason',
    async (call) => {
      const reason = new Error('the page was closed');
      const before = seen.length;
      await expect(CALLS[call]?.(clientOf(), AbortSignal.abort(reason))).rejects.toThrow(AbortError);
      expect(seen).toHaveLength(before);
      const controller = new AbortController();
      answer = () => controller.abort(reason);
      const aborted = CALLS[call]?.(clientOf({ maxRetries: 4 }), controller.signal);
      await expect(aborted).rejects.toMatchObject({ name: 'AbortError', cause: reason });
      expect(seen).toHaveLength(before + 1);
    },
  );

  test('ends the wait for another attempt, and a body that is on its way', async () => {
    answer = says(503, { 'Retry-After': '60' });
    const waiting = clientOf({ maxRetries: 4, onRetry: () => controller.abort() });
    const controller = new AbortController();
    await expect(waiting.listApps({}, { signal: controller.signal })).rejects.toThrow(AbortError);
    answer = (_, res) => {
      res.writeHead(200, JSON_TYPE);
      res.write('[');
    };
    const signal = AbortSignal.timeout(50);
    await expect(clientOf().listApps({}, { signal })).rejects.toMatchObject({
      name: 'AbortError',
      cause: { name: 'TimeoutError' },
    });
  });

  test('works with a fetch that does not know of it', async () => {
    const deaf = clientOf({ fetch: () => new Promise(() => undefined), timeoutMs: 50 });
    await expect(deaf.listApps()).rejects.toThrow(TimeoutError);
    await expect(deaf.listApps({}, { signal: AbortSignal.timeout(10) })).rejects.toThrow(AbortError);
  });
});

describe('an answer', () => {
  test.each([
    ['broken JSON', '[{"path":'],
    ['nothing', ''],
    ['another kind of JSON', '{}'],
    ['null', 'null'],
    ['a text', '"[]"'],
  ])('that is %s is an AnswerError', async (_, text) => {
    expect(await failing('a question', says(200, JSON_TYPE, text))).toBeInstanceOf(AnswerError);
  });

  test('that breaks off or stops is told, and is complete otherwise', async () => {
    const slowly =
      (type: string, pieces: number, last: 'end' | 'destroy' | 'stop'): RequestListener =>
      (_, res) => {
        res.writeHead(200, { 'Content-Type': type });
        let left = pieces;
        const timer = setInterval(() => {
          if (left-- > 0) return void res.write('x');
          clearInterval(timer);
          if (last === 'end') res.end();
          if (last === 'destroy') res.destroy();
        }, 20);
      };
    const parquet = 'application/vnd.apache.parquet';
    expect(await failing('a download', slowly(parquet, 3, 'destroy'))).toBeInstanceOf(ConnectionError);
    expect(await failing('a question', slowly('application/json', 3, 'destroy'))).toBeInstanceOf(
      ConnectionError,
    );
    expect(await failing('a download', slowly(parquet, 3, 'stop'), { timeoutMs: 150 })).toBeInstanceOf(
      TimeoutError,
    );
    expect(
      await failing('a question', slowly('application/json', 3, 'stop'), { timeoutMs: 150 }),
    ).toBeInstanceOf(TimeoutError);
    // Longer than the limit as a whole, and never silent for as long.
    answer = slowly(parquet, 20, 'end');
    const { data } = await clientOf({ timeoutMs: 250 }).download(
      'listPageviews',
      { appId: 'a' },
      { format: 'parquet' },
    );
    expect(new TextDecoder().decode(data)).toBe('x'.repeat(20));
  });

  test('with headers that hold no date or number is read without them', async () => {
    answer = says(
      200,
      { ...JSON_TYPE, 'X-Data-As-Of': 'yesterday', Age: 'old', 'X-RateLimit-Limit': 'many' },
      '[]',
    );
    expect(await clientOf().listApps()).toMatchObject({ dataAsOf: null, ageSeconds: null, rateLimit: null });
  });
});

test('a request names the client and its version', async () => {
  answer = says(200, JSON_TYPE, '[]');
  await clientOf().listApps();
  const { version } = (await import('../../package.json', { with: { type: 'json' } })).default;
  expect(seen.at(-1)?.headers['user-agent']).toBe(`session-analytics-client/${version}`);
});

test('many calls may share one signal', async () => {
  answer = says(200, JSON_TYPE, '[]');
  const warnings: Error[] = [];
  const listen = (warning: Error): number => warnings.push(warning);
  process.on('warning', listen);
  const { signal } = new AbortController();
  const client = clientOf();
  await Promise.all(Array.from({ length: 30 }, () => client.listApps({}, { signal })));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listen);
  expect(warnings).toEqual([]);
});

describe('wrong input is an InputError that names it', () => {
  const wrong = (value: unknown) => value as never;
  const appId = 'a';

  test.each<[string, (client: Client) => Promise<unknown>]>([
    ['from is an invalid Date', (c) => c.listPageviews({ appId, from: new Date('nonsense') })],
    [
      'to is an invalid Date',
      (c) => c.download('listPageviews', { appId, to: new Date('') }, { format: 'csv' }),
    ],
    ['timeoutMs', (c) => c.listApps({}, { timeoutMs: wrong('5 s') })],
    ['timeoutMs', (c) => c.listApps({}, { timeoutMs: 2 ** 31 })],
    ['maxRetries', (c) => c.listApps({}, { maxRetries: -1 })],
    ['maxWaitMs', (c) => c.createApp({ name: 'a', domain: 'b' }, { maxWaitMs: Number.NaN })],
    ['maxStaleSeconds', (c) => c.listApps({}, { maxStaleSeconds: 1.5 })],
    ['onRetry', (c) => c.listApps({}, { onRetry: wrong(true) })],
    ['signal', (c) => c.listApps({}, { signal: wrong(new AbortController()) })],
    ['maxRetry is no option of a question', (c) => c.listApps({}, wrong({ maxRetry: 1 }))],
    ['toString is no option', (c) => c.listApps({}, wrong({ toString: 1 }))],
    [
      'maxStaleSeconds is no option of createApp',
      (c) => c.createApp({ name: 'a', domain: 'b' }, wrong({ maxStaleSeconds: 1 })),
    ],
    [
      'fromat is no option of download',
      (c) => c.download('listPageviews', { appId }, wrong({ fromat: 'csv' })),
    ],
    ['xlsx', (c) => c.download('listPageviews', { appId }, { format: wrong('xlsx') })],
    ['options', (c) => c.download('listPageviews', { appId }, wrong(undefined))],
    ['parameters', (c) => c.listPageviews(wrong('a'))],
    ['app', (c) => c.createApp(wrong(undefined))],
    ['app', (c) => c.createApp(wrong({ name: 1n }))],
  ])('%s', async (name, call) => {
    const before = seen.length;
    const error = await call(clientOf()).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(InputError);
    expect(String(error)).toContain(name);
    expect(seen).toHaveLength(before);
  });

  test.each<[string, (client: Client) => unknown]>([
    ['from is an invalid Date', (c) => c.live('listPageviews', { appId, from: new Date(Number.NaN) })],
    ['toString is no question', (c) => c.poll(wrong('toString'), wrong({}))],
    ['listApps has no stream', (c) => c.live(wrong('listApps'), wrong({ appId }))],
    ['intervalMs', (c) => c.poll('listApps', {}, { intervalMs: -1 })],
    ['giveUpAfterMs', (c) => c.poll('listApps', {}, { giveUpAfterMs: wrong('1 h') })],
    ['onConnection', (c) => c.live('getDataBounds', { appId }, { onConnection: wrong({}) })],
    ['intervalMs is no option of live', (c) => c.live('getDataBounds', { appId }, wrong({ intervalMs: 1 }))],
    ['maxRetries is no option of poll', (c) => c.poll('listApps', {}, wrong({ maxRetries: 1 }))],
    ['apikey is no option of createClient', () => clientOf(wrong({ apikey: 'x' }))],
    ['fetch', () => clientOf({ fetch: wrong('fetch') })],
    ['baseUrl', () => clientOf({ baseUrl: 'analytics.example' })],
    ['baseUrl', () => clientOf({ baseUrl: 'ftp://analytics.example' })],
    ['baseUrl', () => clientOf({ baseUrl: 'https://user:password@analytics.example' })],
    ['apiKey is no API key.', () => clientOf({ apiKey: wrong(undefined) })],
    ['options', () => createClient(wrong(undefined))],
  ])('%s, at once', (name, call) => {
    const error = (() => {
      try {
        return call(clientOf());
      } catch (e) {
        return e;
      }
    })();
    expect(error).toBeInstanceOf(InputError);
    expect(String(error)).toContain(name);
  });
});
