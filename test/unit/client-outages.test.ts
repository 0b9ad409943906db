import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  AnswerError,
  ApiError,
  type Connection,
  ConnectionError,
  createClient,
  type StreamOptions,
} from '../../src/client/index.ts';

// `live` and `poll` have one policy. Their waits pass at once, and are noted.

type Given = Error | (() => Response);

/** The limits of an attempt and of a stream's silence. They do not pass in these tests. */
const LIMITS = [60_000, 45_000];
let waits: number[];
let now: number;
beforeEach(() => {
  waits = [];
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms: number) => {
    if (LIMITS.includes(ms)) return 0;
    waits.push(ms);
    now += ms;
    queueMicrotask(work);
    return 0;
  }) as never);
});
afterEach(() => vi.restoreAllMocks());

const refusal =
  (status: number, headers: Readonly<Record<string, string>> = {}): Given =>
  () =>
    new Response('{}', { status, headers: { 'Content-Type': 'application/problem+json', ...headers } });
const page: Given = () => new Response('<html>', { headers: { 'Content-Type': 'text/html' } });
const lost = new TypeError('fetch failed');

/** How each of the two gets the answer `[n]`. */
const ANSWERS: Readonly<Record<'live' | 'poll', (n: number) => Given>> = {
  live: (n) => () =>
    new Response(`retry: 1000\n\nid: "${n}"\ndata: [${n}]\n\n`, {
      headers: { 'Content-Type': 'text/event-stream' },
    }),
  poll: (n) => () => Response.json([n], { headers: { ETag: `"${n}"` } }),
};

describe.each(['live', 'poll'] as const)('%s', (way) => {
  const answer = ANSWERS[way];

  /** Reads until `last` comes or it throws. */
  async function read(given: readonly Given[], last: number, options: StreamOptions = {}) {
    let asked = 0;
    const fetch = async (): Promise<Response> => {
      const next = given[asked++];
      if (next === undefined) throw new Error('asked too often');
      if (next instanceof Error) throw next;
      return next();
    };
    const client = createClient({ baseUrl: 'http://service.test', apiKey: 'k', fetch });
    const seen: unknown[] = [];
    const told: Connection[] = [];
    const onConnection = (connection: Connection): void => void told.push(connection);
    let error: unknown;
    try {
      const own = { onConnection, ...options };
      const answers =
        way === 'live'
          ? client.live('listPageviews', { appId: 'a' }, own)
          : client.poll('listPageviews', { appId: 'a' }, own);
      for await (const { data } of answers) {
        seen.push(data[0]);
        if (Number(data[0]) === last) break;
      }
    } catch (thrown) {
      error = thrown;
    }
    return { seen, told, error, asked };
  }

  test('goes on through an outage of any kind and length, and tells', async () => {
    const outage = [
      lost,
      refusal(502),
      refusal(503, { 'Retry-After': '7' }),
      refusal(429, { 'Retry-After': '30' }),
      refusal(500),
      page,
      ...Array.from({ length: 20 }, () => lost),
    ];
    const { seen, told, error } = await read([answer(1), ...outage, answer(2)], 2);
    expect([seen, error]).toEqual([[1, 2], undefined]);
    // The end of the first stream is a failure, too.
    const ended = way === 'live' ? 1 : 0;
    const down = told.slice(1, -1);
    expect(told[0]).toEqual({ isConnected: true });
    expect(told.at(-1)).toEqual({ isConnected: true });
    expect(down).toHaveLength(outage.length + ended);
    expect(down.map((each) => each.isConnected)).not.toContain(true);
    const errors = down.slice(ended).map((each) => 'error' in each && each.error);
    expect(errors.slice(0, 6)).toEqual([
      expect.any(ConnectionError),
      expect.any(ApiError),
      expect.any(ApiError),
      expect.any(ApiError),
      expect.any(ApiError),
      expect.any(AnswerError),
    ]);
    const failures = down.map((each) => 'failures' in each && each.failures);
    expect(failures).toEqual(down.map((_, i) => i + 1));
    expect(new Set(down.map((each) => 'since' in each && each.since.getTime())).size).toBe(1);
    const pauses = down.map((each) => ('waitMs' in each ? each.waitMs : 0));
    expect(pauses[ended + 2]).toBeGreaterThan(7_000);
    expect(pauses[ended + 3]).toBeGreaterThan(30_000);
    expect(Math.max(...pauses.slice(6))).toBeLessThanOrEqual(30_000);
    expect(Math.min(...pauses.slice(-10))).toBeGreaterThanOrEqual(15_000);
    expect(waits).toEqual(expect.arrayContaining(pauses));
  });

  test('begins while the service is away', async () => {
    const { seen, told } = await read([lost, page, answer(1)], 1);
    expect(seen).toEqual([1]);
    expect(told.map((each) => each.isConnected)).toEqual([false, false, true]);
  });

  test.each([400, 401, 403, 404])('ends at %s, which no retry can solve', async (status) => {
    const { seen, error, asked } = await read([answer(1), lost, refusal(status)], 2);
    expect(seen).toEqual([1]);
    expect(error).toMatchObject({ name: 'ApiError', status });
    expect(asked).toBe(3);
  });

  test('gives up when it is told how long to go on', async () => {
    const outage = Array.from({ length: 100 }, () => lost);
    const { seen, error, told } = await read([answer(1), ...outage], 2, { giveUpAfterMs: 60_000 });
    expect(seen).toEqual([1]);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(told.filter((each) => !each.isConnected).length).toBeGreaterThan(4);
    const waited = waits.slice(way === 'poll' ? 1 : 0).reduce((sum, ms) => sum + ms, 0);
    expect(waited).toBeGreaterThan(30_000);
    expect(waited).toBeLessThanOrEqual(60_000);
    expect((await read([lost], 1, { giveUpAfterMs: 0 })).error).toBeInstanceOf(ConnectionError);
  });

  test('throws what the callback throws, and ends quietly on abort in the wait', async () => {
    const enough = new Error('enough');
    const onConnection = (connection: Connection): void => {
      if (!connection.isConnected && connection.failures === 3) throw enough;
    };
    expect((await read([lost, lost, lost, answer(1)], 1, { onConnection })).error).toBe(enough);
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    const { error, asked } = await read([lost, answer(1)], 1, {
      onConnection: abort,
      signal: controller.signal,
    });
    expect([error, asked]).toEqual([undefined, 1]);
  });
});

test('a stream that ends at once is asked for less and less often, until it brings something', async () => {
  const nothing: Given = () =>
    new Response('retry: 1000\n\n', { headers: { 'Content-Type': 'text/event-stream' } });
  const comment: Given = () => new Response(':\n\n', { headers: { 'Content-Type': 'text/event-stream' } });
  const given = [nothing, nothing, nothing, comment, nothing, refusal(401)];
  const fetch = async (): Promise<Response> => (given.shift() as () => Response)();
  const client = createClient({ baseUrl: 'http://service.test', apiKey: 'k', fetch });
  await expect(client.live('getDataBounds', { appId: 'a' }).next()).rejects.toThrow(ApiError);
  expect(waits.map((ms) => 2 ** Math.ceil(Math.log2(ms / 500)))).toEqual([1, 2, 4, 1, 2]);
});

test('a broken answer in a stream is not taken for the known one', async () => {
  const sent: (string | null)[] = [];
  const pieces = ['id: "1"\ndata: [1]\n\nid: "2"\ndata: [{\n\n', 'id: "2"\ndata: [2]\n\n'];
  const fetch = async (_: unknown, init: RequestInit = {}): Promise<Response> => {
    sent.push(new Headers(init.headers).get('Last-Event-ID'));
    return new Response(pieces[sent.length - 1], { headers: { 'Content-Type': 'text/event-stream' } });
  };
  const client = createClient({
    baseUrl: 'http://service.test',
    apiKey: 'k',
    fetch: fetch as typeof globalThis.fetch,
  });
  const seen: unknown[] = [];
  for await (const { data } of client.live('listPageviews', { appId: 'a' })) {
    seen.push(data);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([[1], [2]]);
  expect(sent).toEqual([null, '"1"']);
});
