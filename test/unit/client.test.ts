import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError, ConnectionError, createClient, UnclearCreationError } from '../../src/client/index.ts';
import { paceMs } from '../../src/client/poll.ts';

type Scripted = Error | { readonly status: number; readonly headers?: object; readonly body?: unknown };

/** Gives these answers in turn, then the last one for ever. An Error is thrown, as fetch does. */
function scripted(...answers: readonly Scripted[]) {
  const requests: { readonly url: string; readonly init: RequestInit }[] = [];
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push({ url: String(url), init });
    init.signal?.throwIfAborted();
    if (answer === undefined || answer instanceof Error) throw answer;
    const { status, headers = {}, body } = answer;
    return new Response(body === undefined ? null : JSON.stringify(body), {
      status,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
  };
  return { requests, fetch: fetch as typeof globalThis.fetch };
}

const KEY = { baseUrl: 'http://service.test/', apiKey: 'service_api_x' };
const limited = (seconds: number) => ({
  status: 429,
  headers: { 'Retry-After': String(seconds), 'Content-Type': 'application/problem+json' },
  body: { code: 'rate_limited', detail: 'Wait.', requestId: 'r1', retryAfterSeconds: seconds },
});
const fine = (body: unknown = [], etag = '"1"') => ({ status: 200, headers: { ETag: etag }, body });

/** The client's waits, read from its timers. */
let waits: number[];
/** The limits of an attempt and of a stream's silence. They do not pass in these tests. */
const LIMITS = [60_000, 45_000];

beforeEach(() => {
  waits = [];
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms: number) => {
    if (LIMITS.includes(ms)) return 0;
    waits.push(ms);
    queueMicrotask(work);
    return 0;
  }) as never);
});
afterEach(() => vi.restoreAllMocks());

/** An answer whose body breaks after its first bytes. */
const broken = (): Response =>
  new Response(
    new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new TypeError('terminated')),
    }),
    { headers: { 'Content-Type': 'application/json' } },
  );

describe('retry', () => {
  test('asks again if the answer breaks off, and says so at last', async () => {
    let left = 2;
    const fetch = async (): Promise<Response> => (left-- > 0 ? broken() : Response.json([1]));
    expect((await createClient({ ...KEY, fetch }).listApps()).data).toEqual([1]);
    const always = createClient({ ...KEY, fetch: async () => broken(), maxRetries: 1 });
    await expect(always.listApps()).rejects.toThrow(ConnectionError);
  });

  test('waits as long as Retry-After says, and some more', async () => {
    const { fetch, requests } = scripted(limited(7), limited(3), fine());
    const { data } = await createClient({ ...KEY, fetch }).listApps();
    expect(data).toEqual([]);
    expect(requests).toHaveLength(3);
    const [first = 0, second = 0] = waits;
    expect(first).toBeGreaterThanOrEqual(7_250);
    expect(first).toBeLessThanOrEqual(7_500);
    expect(second).toBeGreaterThanOrEqual(3_500);
    expect(second).toBeLessThanOrEqual(4_000);
  });

  test('gives up after maxRetries, and if the wait would be too long', async () => {
    const away = scripted({ status: 503, headers: { 'Retry-After': '1' } });
    await expect(createClient({ ...KEY, fetch: away.fetch, maxRetries: 2 }).listApps()).rejects.toThrow(
      ApiError,
    );
    expect(away.requests).toHaveLength(3);
    const long = scripted(limited(60));
    const asked = createClient({ ...KEY, fetch: long.fetch, maxWaitMs: 30_000 }).listApps();
    await expect(asked).rejects.toMatchObject({ status: 429, retryAfterSeconds: 60 });
    expect(long.requests).toHaveLength(1);
  });

  test('repeats after a broken connection, not after a refusal', async () => {
    const broken = scripted(new TypeError('fetch failed'), fine());
    await createClient({ ...KEY, fetch: broken.fetch }).listApps();
    expect(broken.requests).toHaveLength(2);
    const refused = scripted({ status: 401, headers: { 'Retry-After': '1' } });
    await expect(createClient({ ...KEY, fetch: refused.fetch }).listApps()).rejects.toThrow(ApiError);
    expect(refused.requests).toHaveLength(1);
  });

  test('Retry-After may be a date, by the clock of the service', async () => {
    const date = (seconds: number) => new Date(Date.UTC(2026, 10, 20, 12, 0, seconds)).toUTCString();
    const headers = { 'Retry-After': date(9), Date: date(2) };
    const { fetch } = scripted(
      { status: 503, headers },
      { status: 503, headers: { 'Retry-After': date(0) } },
      fine(),
    );
    await createClient({ ...KEY, fetch }).listApps();
    const [first = 0, second = 0] = waits;
    expect(Math.floor(first / 1000)).toBe(7);
    expect(second).toBeLessThanOrEqual(1_000);
  });

  test('a call has limits and a hook of its own, before those of the client', async () => {
    const told: unknown[] = [];
    const ofClient = scripted({ status: 503 });
    const client = createClient({
      ...KEY,
      fetch: ofClient.fetch,
      maxRetries: 1,
      onRetry: ({ attempt, error }) => told.push([attempt, error]),
    });
    const error = await client.listApps().catch((e: unknown) => e);
    expect(told).toEqual([[2, expect.any(ApiError)]]);
    expect(ofClient.requests).toHaveLength(2);
    const own: number[] = [];
    const asked = client.listApps({}, { maxRetries: 3, onRetry: ({ attempt }) => own.push(attempt) });
    await expect(asked).rejects.toEqual(error);
    expect(own).toEqual([2, 3, 4]);
    await expect(client.listApps({}, { maxRetries: 0 })).rejects.toThrow(ApiError);
    expect(told).toHaveLength(1);
    const stop = new Error('no more');
    const stopped = client.listApps({}, { onRetry: () => raise(stop) });
    await expect(stopped).rejects.toBe(stop);
  });
});

const raise = (error: Error): never => {
  throw error;
};

describe('createApp', () => {
  const app = { name: 'Blog', domain: 'https://blog.example' };
  const created = { status: 201, body: { id: 'x' } };
  const conflict = {
    status: 409,
    headers: { 'Content-Type': 'application/problem+json' },
    body: { code: 'domain_conflict', detail: 'The account already has an app for blog.example.' },
  };
  const listed = {
    status: 200,
    body: [
      { id: 'shared', access: 'shared', domain: app.domain },
      { id: 'mine', access: 'owner', domain: 'http://BLOG.example:80' },
    ],
  };
  const refused = () =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) });
  const create = async (...answers: readonly Scripted[]) => {
    const { fetch, requests } = scripted(...answers);
    const outcome = await createClient({ ...KEY, fetch })
      .createApp(app)
      .catch((e: unknown) => e);
    return { outcome, sent: requests.map(({ init }) => init.body) };
  };
  const body = JSON.stringify(app);

  test('is repeated, because the service creates one app of a domain', async () => {
    for (const answer of [limited(1), { status: 503 }, new TypeError('fetch failed')]) {
      const { outcome, sent } = await create(answer, created);
      expect(outcome).toMatchObject({ data: { id: 'x' } });
      expect(sent).toEqual([body, body]);
    }
  });

  test.each([
    ['a broken connection', new TypeError('fetch failed')],
    ['an error of a proxy', { status: 502 }],
    ['an error of the service', { status: 503 }],
  ])('a conflict after %s may be the own app', async (_, answer) => {
    const { outcome, sent } = await create(answer, conflict, listed);
    expect(outcome).toBeInstanceOf(UnclearCreationError);
    expect(outcome).toBeInstanceOf(ApiError);
    expect(outcome).toMatchObject({ status: 409, code: 'domain_conflict', app: { id: 'mine' } });
    expect(sent).toEqual([body, body, undefined]);
  });

  test('says so also if the app cannot be looked up', async () => {
    const { outcome } = await create(new TypeError('fetch failed'), conflict, { status: 403 });
    expect(outcome).toMatchObject({ name: 'UnclearCreationError', app: null });
  });

  test('a conflict is plain if no attempt can have created the app', async () => {
    for (const answers of [[conflict], [limited(1), conflict], [refused(), conflict]]) {
      const { outcome } = await create(...answers);
      expect(outcome).toMatchObject({ name: 'ApiError', code: 'domain_conflict' });
    }
  });
});

describe('errors', () => {
  test('carry the fields of the problem', async () => {
    const { fetch } = scripted(limited(5));
    const error = await createClient({ ...KEY, fetch, maxRetries: 0 })
      .listApps()
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limited', detail: 'Wait.', requestId: 'r1' });
  });

  test("a proxy's page instead of a problem", async () => {
    const { fetch } = scripted({ status: 404, headers: { 'Content-Type': 'text/html' }, body: '<html>' });
    const error = await createClient({ ...KEY, fetch })
      .listApps()
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ status: 404, code: null, requestId: null });
  });

  test('no connection, and no key in any message', async () => {
    const { fetch } = scripted(new TypeError('fetch failed'));
    const error = await createClient({ ...KEY, fetch, maxRetries: 0 })
      .listApps()
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(() => createClient({ ...KEY, apiKey: 'service_api_a\nb' })).toThrow(/^apiKey is no API key\.$/);
  });
});

describe('conditional requests', () => {
  test('send the tag of the same question, whatever the order of its parameters', async () => {
    const { fetch, requests } = scripted(fine([1], '"a"'), { status: 304, headers: { ETag: '"a"' } });
    const client = createClient({ ...KEY, fetch });
    const first = await client.listPageviews({ appId: 'x', limit: 5, from: new Date(0) });
    const second = await client.listPageviews({ from: '1970-01-01T00:00:00.000Z', limit: 5, appId: 'x' });
    expect([first.notModified, second.notModified]).toEqual([false, true]);
    expect(second.data).toEqual(first.data);
    expect(requests[0]?.url).toBe(
      'http://service.test/api/v1/sessions/pageviews?appId=x&from=1970-01-01T00%3A00%3A00.000Z&limit=5',
    );
    expect(requests[1]?.init.headers).toMatchObject({ 'If-None-Match': '"a"' });
  });

  test('give each caller an answer of its own', async () => {
    const { fetch } = scripted(
      fine([
        { path: '/b', views: 2 },
        { path: '/a', views: 1 },
      ]),
      {
        status: 304,
        headers: { ETag: '"1"' },
      },
    );
    const client = createClient({ ...KEY, fetch });
    const ask = async () => (await client.listPageviews({ appId: 'x' })).data;
    const [first, second] = [await ask(), await ask()];
    const before = structuredClone(first);
    first.sort((a, b) => a.views - b.views);
    for (const page of second) page.views = 0;
    second.length = 1;
    expect(await ask()).toEqual(before);
  });

  test('forget the questions that were not repeated for long', async () => {
    const { fetch, requests } = scripted(fine());
    const client = createClient({ ...KEY, fetch });
    for (let i = 0; i <= 200; i++) await client.listPageviews({ appId: String(i) });
    await client.listPageviews({ appId: '0' });
    expect(requests.at(-1)?.init.headers).not.toHaveProperty('If-None-Match');
    await client.listPageviews({ appId: '200' });
    expect(requests.at(-1)?.init.headers).toHaveProperty('If-None-Match');
  });
});

describe('poll', () => {
  const pace = (remaining: number, reset: number) => ({
    'X-RateLimit-Limit': '120',
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(reset),
  });

  test('spreads the remaining requests over the remaining time', () => {
    expect(paceMs(null)).toBe(0);
    expect(paceMs({ limit: 120, remaining: 60, resetSeconds: 30 })).toBe(500);
    expect(paceMs({ limit: 120, remaining: 2, resetSeconds: 30 })).toBe(15_000);
    expect(paceMs({ limit: 120, remaining: 0, resetSeconds: 9 })).toBe(9_000);
  });

  test('yields changes only, at the slower of its interval and the pace', async () => {
    const { fetch } = scripted(
      { status: 200, headers: { ETag: '"a"', ...pace(100, 50) }, body: { oldest: 1 } },
      { status: 304, headers: { ETag: '"a"', ...pace(4, 40) } },
      { status: 200, headers: { ETag: '"b"', ...pace(0, 30) }, body: { oldest: 2 } },
    );
    const seen: unknown[] = [];
    for await (const { data } of createClient({ ...KEY, fetch }).poll('getDataBounds', { appId: 'x' })) {
      seen.push(data);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual([{ oldest: 1 }, { oldest: 2 }]);
    expect(waits).toEqual([1_000, 10_000]);
  });

  test('ends without an error when it is aborted, and throws errors that remain after all retries', async () => {
    const controller = new AbortController();
    const { fetch } = scripted(fine());
    const client = createClient({ ...KEY, fetch });
    for await (const _ of client.poll('listApps', {}, { signal: controller.signal })) controller.abort();
    const denied = createClient({ ...KEY, fetch: scripted({ status: 403 }).fetch });
    await expect(denied.poll('listApps', {}).next()).rejects.toThrow(ApiError);
  });
});

describe('live', () => {
  /** A stream of these pieces, which then ends. Null breaks it. */
  const stream = (...pieces: readonly (string | Uint8Array | null)[]): Response => {
    const left = [...pieces];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = left.shift();
        if (piece === undefined) controller.close();
        else if (piece === null) controller.error(new TypeError('terminated'));
        else controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece);
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  };

  /** Reads the stream until an error, and returns the answers, the error and the ids that were sent. */
  async function read(...responses: readonly (Response | Error)[]) {
    const sent: (string | null)[] = [];
    const fetch = async (_url: unknown, init: RequestInit = {}): Promise<Response> => {
      const response = responses[sent.length];
      sent.push(new Headers(init.headers).get('Last-Event-ID'));
      if (response === undefined) return new Response('{}', { status: 401 });
      if (response instanceof Error) throw response;
      return response;
    };
    const seen: unknown[] = [];
    const { live } = createClient({ ...KEY, fetch: fetch as typeof globalThis.fetch });
    const error = await (async () => {
      for await (const { etag, data } of live('listPageviews', { appId: 'a' })) seen.push([etag, data]);
    })().catch((thrown: unknown) => thrown);
    return { seen, sent, error };
  }

  test('joins the lines of an answer, however they are cut', async () => {
    const text = ':\n\nretry: 1000\n\nid: "1"\ndata: [{"path":"/é"},\ndata: {"path":"/b"}]\n\n';
    const whole = [['"1"', [{ path: '/é' }, { path: '/b' }]]];
    expect((await read(stream(text))).seen).toEqual(whole);
    const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
    expect((await read(stream(...bytes))).seen).toEqual(whole);
  });

  test('connects again from the last id, also from one without an answer', async () => {
    const { seen, sent, error } = await read(
      stream('id: "1"\ndata: []\n\nid: "2"\n\n', null),
      new TypeError('fetch failed'),
      stream('event: end\ndata: {}\n\n'),
      stream('id: "3"\ndata: [1]\n\n'),
    );
    expect(seen).toEqual([
      ['"1"', []],
      ['"3"', [1]],
    ]);
    expect(sent).toEqual([null, '"2"', '"2"', '"2"', '"3"']);
    expect(error).toMatchObject({ status: 401 });
  });

  test('goes on while the service is away for longer than a request is repeated', async () => {
    const away = Array.from({ length: 12 }, () => new TypeError('fetch failed'));
    const { seen, error } = await read(
      stream('id: "1"\ndata: []\n\n'),
      ...away,
      stream('id: "2"\ndata: [2]\n\n'),
    );
    expect(seen).toEqual([
      ['"1"', []],
      ['"2"', [2]],
    ]);
    expect(error).toMatchObject({ status: 401 });
  });

  test('waits longer after each connection that brought nothing', async () => {
    await read(stream(''), stream(''), stream(''), stream('id: "1"\ndata: []\n\n'));
    expect(waits.map((ms) => 2 ** Math.ceil(Math.log2(ms / 500)))).toEqual([1, 2, 4, 1]);
  });
});
