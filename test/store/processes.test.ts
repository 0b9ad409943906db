import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { openStream } from '../support/event-stream.ts';
import { type LocalRedis, localRedis } from '../support/redis.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';

/** Two API processes on one store (the HTTP bridge) and one Redis are one service. */
const LIMIT = 60;

let bridge: BridgeProcess;
let redis: LocalRedis;
let folder: string;
let one: ServiceProcess;
let two: ServiceProcess;
let account: string;

const Account = z.object({ accountId: z.string() });
const Key = z.object({ keyId: z.string(), apiKey: z.string() });
const App = z.object({ id: z.string(), secretKey: z.string() });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-processes-'));
  [bridge, redis] = await Promise.all([bridgeProcess(), localRedis()]);
  const start = (name: string): Promise<ServiceProcess> =>
    serviceProcess({
      ...bridge.settings,
      REDIS_URL: redis.url,
      DATA_DIR: join(folder, name),
      MANAGEMENT_JWT_SECRET: 'a secret of at least 32 characters',
      PUBLIC_API_REQUESTS_PER_MINUTE: String(LIMIT),
      PUBLIC_API_REPLICAS: '2',
    });
  // In parallel, so both migrate the same empty store.
  [one, two] = await Promise.all([start('one'), start('two')]);
  account = Account.parse(await one.admin('account', 'create', '--name', 'Acme', '--plan', 'pro')).accountId;
});

afterAll(async () => {
  await Promise.all([one?.kill(), two?.kill()]);
  await Promise.all([bridge?.close(), redis?.close()]);
  removeFolder(folder);
});

const newKey = async (): Promise<z.infer<typeof Key>> =>
  Key.parse(await one.admin('key', 'create', '--account', account));

const call = (service: ServiceProcess, apiKey: string, path = '/api/v1/apps', init: RequestInit = {}) =>
  fetch(`${service.url}${path}`, {
    ...init,
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
  });

/** Repeats `work` until Redis was not away meanwhile: on a busy machine it may answer late, and counts as away. */
async function undisturbed<T>(work: () => Promise<T>): Promise<T> {
  const timesAway = (): number => `${one.output()}${two.output()}`.split('redis is away').length;
  for (;;) {
    const before = timesAway();
    const result = await work();
    if (timesAway() === before) return result;
    await sleep(2_000);
  }
}

const createApp = (service: ServiceProcess, apiKey: string, domain: string): Promise<Response> =>
  call(service, apiKey, '/api/v1/apps', { method: 'POST', body: JSON.stringify({ name: 'Shop', domain }) });

test('exactly `limit` of many parallel requests pass, over both processes', async () => {
  const responses = await undisturbed(async () => {
    const { apiKey } = await newKey();
    return Promise.all(Array.from({ length: 3 * LIMIT }, (_, i) => call(i % 2 === 0 ? one : two, apiKey)));
  });
  const passed = responses.filter(({ status }) => status === 200);
  const limited = responses.filter(({ status }) => status === 429);
  expect([passed.length, limited.length]).toEqual([LIMIT, 2 * LIMIT]);
  const left = passed.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
  expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: LIMIT }, (_, i) => i));
  for (const { headers } of limited) {
    expect(headers.get('x-ratelimit-limit')).toBe(String(LIMIT));
    expect(headers.get('retry-after')).toBe(headers.get('x-ratelimit-reset'));
  }
});

test('each key has its own window', async () => {
  const { apiKey } = await newKey();
  const response = await call(two, apiKey);
  expect(response.headers.get('x-ratelimit-remaining')).toBe(String(LIMIT - 1));
});

test('a revocation on one process ends the key on the other', async () => {
  const { keyId, apiKey } = await newKey();
  expect((await call(two, apiKey)).status).toBe(200);
  await one.admin('key', 'revoke', '--key', keyId);
  expect((await call(one, apiKey)).status).toBe(401);
  await expect.poll(async () => (await call(two, apiKey)).status, { interval: 250 }).toBe(401);
});

test('one domain, created on both at once, is created once', async () => {
  const { apiKey } = await newKey();
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, i) => createApp(i % 2 === 0 ? one : two, apiKey, 'https://once.example')),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  const lists = await Promise.all([one, two].map(async (service) => (await call(service, apiKey)).json()));
  expect(lists[0]).toEqual(lists[1]);
});

test('while a visitor is being erased, questions are answered', async () => {
  const { apiKey } = await newKey();
  const app = App.parse(await (await createApp(one, apiKey, 'https://erasing.example')).json());
  const {
    CLICKHOUSE_URL: url = '',
    CLICKHOUSE_USER: username = '',
    CLICKHOUSE_PASSWORD: password = '',
  } = bridge.settings;
  const database = bridge.settings['CLICKHOUSE_DATABASE'] ?? 'analytics';
  const db = await openDatabase({ kind: 'server', url, username, password, database });
  try {
    const row = { app_id: app.id, erasure_id: randomUUID() };
    await db.insert('erasures', [{ ...row, ended: 0 }], { about: [app.id] });
    for (const service of [one, two]) {
      for (const path of ['pageviews', 'overview/extended', 'user-growth', 'locations/all']) {
        const ask = (etag?: string) =>
          fetch(`${service.url}/api/v1/sessions/${path}?appId=${app.id}`, {
            headers: { Authorization: `Bearer ${apiKey}`, ...(etag ? { 'If-None-Match': etag } : {}) },
          });
        const first = await ask();
        expect(first.status, path).toBe(200);
        // Computed again: its tag is that of its bytes.
        expect((await ask(first.headers.get('etag') ?? '')).status).toBe(304);
      }
    }
    await db.insert('erasures', [{ ...row, ended: 1 }], { about: [app.id] });
  } finally {
    await db.close();
  }
});

test('a batch that is sent to both processes, at once and later, is stored once', async () => {
  const { apiKey } = await newKey();
  const app = App.parse(await (await createApp(one, apiKey, 'https://batch.example')).json());
  const startedAt = new Date().toISOString();
  const batch = {
    appId: app.id,
    secretKey: app.secretKey,
    batchId: randomUUID(),
    sessions: [
      {
        id: 's1',
        visitorId: 'v1',
        startedAt,
        events: [{ type: 'pageview', timestamp: startedAt, path: '/' }],
      },
    ],
  };
  const send = async (service: ServiceProcess): Promise<unknown> => {
    const response = await call(service, apiKey, '/sdk/v1/events', {
      method: 'POST',
      body: JSON.stringify(batch),
    });
    expect(response.status).toBe(200);
    return response.json();
  };
  const answers = [...(await Promise.all([one, two, one, two].map(send))), await send(one), await send(two)];
  const accepted = { accepted: 1, rejected: [] };
  const duplicate = { accepted: 0, rejected: [], duplicate: true };
  expect(answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(accepted))).toHaveLength(1);
  expect(answers).toEqual(expect.arrayContaining([accepted, duplicate]));
  for (const service of [one, two]) {
    const pageviews = await call(service, apiKey, `/api/v1/sessions/pageviews?appId=${app.id}`);
    expect(await pageviews.json()).toEqual([{ path: '/', views: 1, uniqueSessions: 1 }]);
  }
});

test('a stream on one process sends events that the other process stores', async () => {
  const { apiKey, keyId } = await newKey();
  const app = App.parse(await (await createApp(one, apiKey, 'https://live.example')).json());
  const path = `/api/v1/sessions/pageviews?appId=${app.id}`;
  const { next } = await openStream(two.url, path, { key: apiKey });
  expect((await next())?.data).toBe('[]');
  const startedAt = new Date().toISOString();
  const events = [{ type: 'pageview', timestamp: startedAt, path: '/' }];
  const sessions = [{ id: 's1', visitorId: 'v1', startedAt, events }];
  const { id: appId, secretKey } = app;
  await call(one, apiKey, '/sdk/v1/events', {
    method: 'POST',
    body: JSON.stringify({ appId, secretKey, batchId: randomUUID(), sessions }),
  });
  expect(JSON.parse((await next())?.data ?? '')).toEqual([{ path: '/', views: 1, uniqueSessions: 1 }]);
  await one.admin('key', 'revoke', '--key', keyId);
  const last = await next();
  expect([last?.event, JSON.parse(last?.data ?? '').code]).toEqual(['end', 'unauthorized']);
});

test('a visitor whom one process erases is in no later answer of the other, and no old tag is confirmed there', async () => {
  const { apiKey } = await newKey();
  const app = App.parse(await (await createApp(one, apiKey, 'https://erased.example')).json());
  const startedAt = new Date().toISOString();
  const sessions = ['gone', 'kept'].map((visitorId) => ({
    id: visitorId,
    visitorId,
    startedAt,
    events: [{ type: 'pageview', timestamp: startedAt, path: `/${visitorId}` }],
  }));
  const { id: appId, secretKey } = app;
  const body = JSON.stringify({ appId, secretKey, batchId: randomUUID(), sessions });
  expect((await call(one, apiKey, '/sdk/v1/events', { method: 'POST', body })).status).toBe(200);
  const path = `/api/v1/sessions/pageviews?appId=${appId}`;
  const ask = (service: ServiceProcess, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${service.url}${path}`, { headers: { Authorization: `Bearer ${apiKey}`, ...headers } });
  const kept = { path: '/kept', views: 1, uniqueSessions: 1 };
  // Asked before, so both processes have it in memory.
  const tags: string[] = [];
  for (const service of [one, two, one, two]) {
    const answer = await ask(service);
    tags.push(answer.headers.get('etag') ?? '');
    expect(await answer.json()).toEqual([{ ...kept, path: '/gone' }, kept]);
  }
  expect((await ask(two, { 'If-None-Match': tags[0] ?? '' })).status).toBe(304);
  const { next } = await openStream(two.url, path, { key: apiKey });
  expect((await next())?.data).toContain('/gone');

  await one.admin('visitor', 'erase', '--app', appId, '--visitor', 'gone');
  for (const service of [two, one]) {
    const answer = await ask(service, { 'If-None-Match': tags.join(', ') });
    expect([answer.status, await answer.json()]).toEqual([200, [kept]]);
  }
  // A stream may first send an answer from the middle of the erasure.
  let sent = await next();
  while (sent?.data.includes('/gone')) sent = await next();
  expect(JSON.parse(sent?.data ?? '')).toEqual([kept]);
});

test('a link signs in once, on whichever process; a sign-out on one ends the session on the other', async () => {
  const url = String(
    z.object({ url: z.string() }).parse(await one.admin('sign-in-link', '--account', account)).url,
  );
  const token = new URL(url).hash.slice(1);
  const page = ({ url: base }: ServiceProcess, path: string, cookie: string, init: RequestInit = {}) =>
    fetch(`${base}/dashboard/api${path}`, {
      ...init,
      headers: { Origin: base, Cookie: cookie, 'Content-Type': 'application/json' },
    });
  const body = JSON.stringify({ token });
  const answers = await Promise.all(
    [one, two, one, two].map((service) => page(service, '/sign-in/link', '', { method: 'POST', body })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  const cookie =
    answers
      .find(({ status }) => status === 200)
      ?.headers.get('set-cookie')
      ?.split(';')[0] ?? '';
  for (const service of [one, two]) expect((await page(service, '/session', cookie)).status).toBe(200);
  expect((await page(one, '/sign-out', cookie, { method: 'POST' })).status).toBe(200);
  await expect.poll(async () => (await page(two, '/session', cookie)).status, { interval: 250 }).toBe(401);
});

test('a stopped process ends by itself, and the other goes on', async () => {
  const { apiKey } = await newKey();
  expect(await two.stop()).toBe(0);
  expect((await call(one, apiKey)).status).toBe(200);
});
