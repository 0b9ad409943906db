import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { openService } from '../../src/testing/in-process.ts';
import { SessionAnalyticsContainer, startTestService } from '../../src/testing/index.ts';
import type {
  Fault,
  InProcessOptions,
  InProcessService,
  Seed,
  SessionSeed,
  Window,
} from '../../src/testing/types.ts';
import { expectProblem, send } from '../http/support.ts';
import { SEED } from './seed.ts';

const NOON = '2026-11-20T12:00:00Z';
const LIMIT = 20;

let service: InProcessService;
beforeAll(async () => {
  service = await startTestService({
    seed: SEED,
    now: NOON,
    settings: { PUBLIC_API_REQUESTS_PER_MINUTE: String(LIMIT) },
  });
});
afterAll(() => service.close());
afterEach(() => service.recover());

const apps = (key = service.account().apiKey) => send(service.url, '/api/v1/apps', { key });
const remaining = async (key: string) => Number((await apps(key)).headers['x-ratelimit-remaining']);

/** A new account, whose rate window is unused. */
const fresh = async () =>
  (await service.plant({ accounts: [{ name: 'Fresh', apps: [{ name: 'New' }] }] })).account();

describe('a seed', () => {
  test('becomes accounts, keys, apps, shares and events', async () => {
    const { apiKey } = service.account('Acme');
    const client = createClient({ baseUrl: service.url, apiKey });
    const { id: appId } = service.app('Shop');
    expect((await client.listPageviews({ appId })).data).toEqual([
      { path: '/', views: 2, uniqueSessions: 2 },
      { path: '/pricing', views: 1, uniqueSessions: 1 },
    ]);
    const { session } = (await client.getExtendedOverview({ appId })).data;
    expect(session).toMatchObject({ sessions: 2, visitors: 2 });
    expect((await client.listUtmCampaigns({ appId })).data).toMatchObject([{ source: 'news', sessions: 1 }]);
    expect((await client.listApps()).data.map(({ name }) => name).sort()).toEqual(['Blog', 'Shop']);
    const partner = createClient({ baseUrl: service.url, apiKey: service.account('Partner').apiKey });
    expect((await partner.listApps()).data).toMatchObject([{ id: appId, access: 'shared' }]);
  });

  test('leaves the rate windows of its keys unused', async () => {
    expect(await remaining((await fresh()).apiKey)).toBe(LIMIT - 1);
  });

  test('has keys and plans that the service refuses', async () => {
    expectProblem(await apps(service.account('Acme').key('old').apiKey), 'unauthorized');
    const path = `/api/v1/sessions/data-bounds?appId=${service.app('Old shop').id}`;
    expectProblem(await send(service.url, path, { key: service.account('Late').apiKey }), 'plan_blocked');
  });

  test('is found by names, and an unknown name says which are known', () => {
    expect(service.account()).toBe(service.account('Acme'));
    expect(service.app()).toBe(service.app('Shop'));
    expect(() => service.account('Acmee')).toThrow(
      'There is no account "Acmee". Seeded: Acme, Partner, Late',
    );
    expect(() => service.account('Acme').key('x')).toThrow(
      'There is no key of Acme "x". Seeded: reports, old.',
    );
    expect(() => service.app('x')).toThrow('There is no app "x". Seeded: Shop, Blog, Old shop');
  });

  test('goes on with an app that was created over the Public API', async () => {
    const client = createClient({ baseUrl: service.url, apiKey: (await fresh()).apiKey });
    const { data: app } = await client.createApp({ name: 'Forum', domain: 'https://forum.example' });
    const session = { startedAt: NOON, events: [{ type: 'click', path: '/', target: '#x' }] } as const;
    expect(await service.record(app, [session])).toBe(1);
    expect((await client.getDataBounds({ appId: app.id })).data.oldest).toBe('2026-11-20T12:00:00.000Z');
  });

  test('that cannot be planted says why', async () => {
    const session = { startedAt: '2026-11-20T13:00:00Z', events: [{ type: 'pageview', path: '/' }] } as const;
    await expect(service.record('Blog', [session])).rejects.toThrow(
      /^Blog: the session of 2026-11-20T13:00:00Z.* was rejected \(\w+\): /,
    );
    const ambiguous = { ...session, startedAt: '2026-11-20' };
    await expect(service.record('Blog', [ambiguous])).rejects.toThrow('a session: 2026-11-20 is no instant.');
    await expect(
      service.plant({ accounts: [{ name: 'A', apps: [{ name: 'B', sharedWith: ['C'] }] }] }),
    ).rejects.toThrow('There is no account "C"');
  });

  test('of more than a batch', async () => {
    const account = await fresh();
    const session = { startedAt: '2026-11-19T10:00:00Z', events: [{ type: 'pageview', path: '/' }] } as const;
    expect(await service.record(account.apps[0]?.id ?? '', Array(1_001).fill(session))).toBe(1_001);
    const client = createClient({ baseUrl: service.url, apiKey: account.apiKey });
    const { data } = await client.getExtendedOverview({ appId: account.apps[0]?.id ?? '' });
    expect(data.session).toMatchObject({ sessions: 1_001, visitors: 1_001 });
  });
});

test('a key that has expired can be planted', async () => {
  const keys = [{ name: 'over', expiresAt: '2026-11-20T11:59:59Z' }, { name: 'valid' }];
  const account = (await service.plant({ accounts: [{ name: 'Expired', keys }] })).account();
  expectProblem(await apps(account.key('over').apiKey), 'unauthorized');
  expect((await apps(account.key('valid').apiKey)).status).toBe(200);
});

describe('what JavaScript does not check is refused by name', () => {
  const session = { startedAt: NOON, events: [{ type: 'pageview', path: '/' }] };
  const app = (more: object) => ({ accounts: [{ name: 'A', apps: [{ name: 'B', ...more }] }] });

  test.each<[string, unknown, string]>([
    ['a status', { status: 418 }, 'status must be one of 429, 500, 502, 503, not 418.'],
    ['a member', { status: 503, time: 1 }, 'a fault has no member "time". Did you mean "times"?'],
    ['nothing', {}, 'A fault has one of status, delayMs, reset, cutAfterBytes, not 0.'],
    ['two kinds', { status: 503, delayMs: 1 }, 'not 2.'],
    ['a code', { status: 500, code: 'overloaded' }, 'Only a fault with status 503 has a code.'],
    ['a number', { status: 503, times: 0.5 }, 'times must be a whole number of at least 1, not 0.5.'],
    [
      'a delay longer than a timer',
      { delayMs: 2 ** 31 },
      'delayMs must be a whole number of at least 0 and at most 2147483647, not 2147483648.',
    ],
    ['a path', { status: 503, path: 'api' }, 'path must be a text that begins with /.'],
    ['a text', 'reset', 'a fault must be an object, not "reset".'],
  ])('%s of a fault', (_, fault, message) => {
    expect(() => service.fail(fault as Fault)).toThrow(message);
  });

  test.each<[string, unknown, string]>([
    ['seed', { account: [] }, 'a seed has no member "account". Did you mean "accounts"?'],
    ['account', { accounts: [{ nam: 'A' }] }, 'accounts[0] has no member "nam". Did you mean "name"?'],
    [
      'plan',
      { accounts: [{ name: 'A', plan: 'gold' }] },
      'accounts[0]: plan must be one of free, pro, suspended, not "gold".',
    ],
    [
      'key',
      { accounts: [{ name: 'A', keys: [{ name: 'k', expires: NOON }] }] },
      'keys[0] has no member "expires". Did you mean "expiresAt"?',
    ],
    ['app', app({ session: [] }), 'apps[0] has no member "session". Did you mean "sessions"?'],
    ['session', app({ sessions: [{ ...session, visitor: 'v' }] }), 'sessions[0] has no member "visitor". '],
    [
      'event',
      app({ sessions: [{ ...session, events: [{ type: 'pageview', pth: '/' }] }] }),
      'events[0] has no member "pth". Did you mean "path"?',
    ],
    [
      'utm',
      app({ sessions: [{ ...session, context: { utm: { sorce: 'x' } } }] }),
      'utm has no member "sorce". Did you mean "source"?',
    ],
  ])('a misspelled %s', async (_, seed, message) => {
    await expect(service.plant(seed as Seed)).rejects.toThrow(message);
  });

  test.each<[string, unknown, string]>([
    ['option', { seeds: SEED }, 'the start has no member "seeds". Did you mean "seed"?'],
    [
      'setting',
      { settings: { PUBLIC_API_REQUESTS_PER_MINUT: '1' } },
      'Did you mean "PUBLIC_API_REQUESTS_PER_MINUTE"?',
    ],
    [
      'file of a setting that has none',
      { settings: { DATA_DIR_FILE: '/x' } },
      'settings has no member "DATA_DIR_FILE". Did you mean "DATA_DIR"?',
    ],
    ['file of a short setting', { settings: { PORT_FILE: '/x' } }, 'settings has no member "PORT_FILE".'],
    ['value', { settings: { TRUST_PROXY: 1 } }, 'settings: TRUST_PROXY must be a text, not 1.'],
    ['instant', { now: 5 }, 'clock: 5 is no instant.'],
  ])('a wrong %s of a start', async (_, options, message) => {
    await expect(startTestService(options as InProcessOptions)).rejects.toThrow(message);
  });

  test.each<[string, unknown, string]>([
    ['none', undefined, 'the app must be an object, not undefined.'],
    ['a part of one', { id: 'x', name: 'Shop' }, 'the app: domain must be a text, not undefined.'],
  ])('an app to record for: %s', async (_, wrong, message) => {
    await expect(service.record(wrong as string, [session as SessionSeed])).rejects.toThrow(message);
  });

  test.each<[string, (container: SessionAnalyticsContainer) => unknown, string]>([
    [
      'change',
      (c) => c.withContainer('x' as never),
      'the change of the container must be a function, not "x".',
    ],
    ['setting', (c) => c.withSettings({ PORT: '80' }), 'settings: PORT of a container is set by the kit.'],
    ['image', () => new SessionAnalyticsContainer(null as never), 'the image must be a text, not null.'],
  ])('a wrong %s of a container, before it starts', (_, change, message) => {
    expect(() => change(new SessionAnalyticsContainer())).toThrow(message);
  });

  test('a misspelled member of a window', async () => {
    const window = { remaning: 1 } as unknown as Window;
    await expect(service.setRateLimit(service.account().apiKey, window)).rejects.toThrow(
      'Did you mean "remaining"?',
    );
  });
});

test('the clock stands still, moves on, and is set', async () => {
  const client = createClient({ baseUrl: service.url, apiKey: service.account().apiKey });
  const today = async () => (await client.getOverviewKpis({ appId: service.app().id })).data.current.from;
  expect(service.clock.now()).toEqual(new Date(NOON));
  expect(await today()).toBe('2026-11-20T00:00:00.000Z');
  service.clock.advance(12 * 3_600_000);
  expect(await today()).toBe('2026-11-21T00:00:00.000Z');
  service.clock.set('2026-11-25T03:30:00+03:30');
  expect(await today()).toBe('2026-11-25T00:00:00.000Z');
  service.clock.set(new Date(NOON));
  expect(() => service.clock.set('2026-11-25')).toThrow('clock: 2026-11-25 is no instant.');
  expect(() => service.clock.advance(0.5)).toThrow('whole milliseconds');
});

describe('the rate window', () => {
  test('is set and exhausted; other keys keep theirs', async () => {
    const { apiKey } = await fresh();
    await service.setRateLimit(apiKey, { remaining: 2, resetSeconds: 30 });
    const { headers } = await apps(apiKey);
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '1', 'x-ratelimit-limit': String(LIMIT) });
    expect(Number(headers['x-ratelimit-reset'])).toBeLessThanOrEqual(30);
    await service.exhaustRateLimit(apiKey);
    expectProblem(await apps(apiKey), 'rate_limited');
    expect(await remaining((await fresh()).apiKey)).toBe(LIMIT - 1);
    await service.setRateLimit(apiKey, { remaining: LIMIT });
    expect(await remaining(apiKey)).toBe(LIMIT - 1);
  });

  test('says what cannot be set', async () => {
    const { apiKey } = service.account();
    await expect(service.setRateLimit(apiKey, { remaining: LIMIT + 1 })).rejects.toThrow(
      /from 0 to the limit, which is 20/,
    );
    await expect(service.setRateLimit(apiKey, { remaining: 1, resetSeconds: 61 })).rejects.toThrow(
      'at most 60',
    );
    await expect(service.exhaustRateLimit('service_api_x')).rejects.toThrow('does not know this API key');
  });
});

describe('faults', () => {
  test('503, as often as asked for and only where asked for', async () => {
    const { apiKey } = await fresh();
    const failing = service.fail({ status: 503, times: 2, retryAfterSeconds: 7, path: '/api/v1/apps' });
    expect((await send(service.url, '/healthz', {})).status).toBe(200);
    for (let i = 0; i < 2; i++) {
      const answer = await apps(apiKey);
      expectProblem(answer, 'store_unavailable');
      expect(answer.headers['retry-after']).toBe('7');
    }
    expect((await apps(apiKey)).status).toBe(200);
    expect(failing.hits).toBe(2);
    service.fail({ status: 503, code: 'overloaded' });
    expectProblem(await apps(apiKey), 'overloaded');
    service.recover();
    expect((await apps(apiKey)).status).toBe(200);
  });

  test('429 with the headers of a window that is used up', async () => {
    const failing = service.fail({ status: 429, retryAfterSeconds: 3 });
    const answer = await apps();
    expect(expectProblem(answer, 'rate_limited').retryAfterSeconds).toBe(3);
    expect(answer.headers).toMatchObject({
      'x-ratelimit-limit': String(LIMIT),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '3',
    });
    failing.end();
    expect((await apps()).status).toBe(200);
  });

  test('500, with the form of the service', async () => {
    service.fail({ status: 500, times: 1 });
    expectProblem(await apps(), 'internal');
  });

  test('502, as a proxy answers', async () => {
    service.fail({ status: 502, times: 1 });
    const answer = await fetch(`${service.url}/api/v1/apps`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([502, 'text/html']);
    expect(answer.headers.get('x-request-id')).toBe(null);
    expect(await answer.text()).toContain('<h1>502 Bad Gateway</h1>');
  });

  test('a connection that is reset', async () => {
    const failing = service.fail({ reset: true, times: 1 });
    await expect(fetch(`${service.url}/api/v1/apps`)).rejects.toThrow('fetch failed');
    expect(failing.hits).toBe(1);
    expect((await apps()).status).toBe(200);
  });

  test.each([0, 10])('an answer that is cut after %i bytes', async (cutAfterBytes) => {
    service.fail({ cutAfterBytes, times: 1 });
    const answer = await fetch(`${service.url}/healthz`);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  test('a shorter answer is whole', async () => {
    service.fail({ cutAfterBytes: 1_000_000, times: 1 });
    expect(await (await fetch(`${service.url}/healthz`)).text()).not.toBe('');
  });

  test('a request that waits is answered as usual, at the latest when the fault ends', async () => {
    const slow = service.fail({ delayMs: 50, times: 1 });
    expect([(await apps()).status, slow.hits]).toEqual([200, 1]);
    const hanging = service.fail({ delayMs: 3_600_000 });
    const answer = apps();
    await expect.poll(() => hanging.hits).toBe(1);
    service.recover();
    expect((await answer).status).toBe(200);
  });
});

test('two services at once see nothing of each other, and leave nothing behind', async () => {
  const lines: string[] = [];
  const [one, two] = await Promise.all([
    openService({ seed: SEED, onLog: (line) => void lines.push(line) }),
    openService(),
  ]);
  expect(two.accounts).toEqual([]);
  expect(() => two.account()).toThrow('There is no account. None was seeded.');
  expectProblem(await send(two.url, '/api/v1/apps', { key: one.account().apiKey }), 'unauthorized');
  expect(lines.some((line) => JSON.parse(line).msg === 'listening')).toBe(true);
  await Promise.all([one.close(), one.close(), two.close()]);
  for (const { dataDir } of [one, two]) expect(existsSync(dataDir)).toBe(false);
  await expect(fetch(`${one.url}/healthz`)).rejects.toThrow('fetch failed');
});

test('a service that cannot start says why and leaves nothing behind', async () => {
  const folders = () =>
    readdirSync(tmpdir()).filter(
      (name) => /^session-analytics-test-/.test(name) && name.includes(`-${process.pid}-`),
    );
  const before = folders();
  await expect(startTestService({ settings: { PORT: 'x' } })).rejects.toThrow(
    /^Wrong settings:\n {2}PORT must be/,
  );
  const badApp = { accounts: [{ name: 'A', apps: [{ name: 'B', domain: 'nowhere' }] }] };
  await expect(startTestService({ seed: badApp })).rejects.toThrow(
    /^app B: domain: must be a URL|^app B: domain: /i,
  );
  await expect(startTestService({ seed: { accounts: [{ name: '' }] } })).rejects.toThrow(/^account : name: /);
  expect(folders().filter((name) => !before.includes(name))).toEqual([]);
});
