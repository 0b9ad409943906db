import { randomUUID } from 'node:crypto';
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { epochMs } from '../../../src/domain/time.ts';
import { Problem } from '../../../src/http/request/problem.ts';
import { signManagementToken } from '../../../src/management/token.ts';
import { type ManagedService, managedService } from '../../support/management.ts';

let service: ManagedService;

beforeAll(async () => {
  service = await managedService();
});
afterAll(() => service.close());

interface Ask {
  readonly method?: string;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const clock = () => epochMs(Date.now());

async function ask(path: string, { method = 'GET', token, headers = {}, body }: Ask = {}) {
  const bearer = token === undefined ? await signManagementToken(service.jwtSecret, clock) : token;
  const response = await fetch(`${service.managementUrl}${path}`, {
    method,
    headers: {
      ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json: unknown = text === '' ? undefined : JSON.parse(text);
  return { status: response.status, headers: response.headers, json };
}

const post = (path: string, body?: unknown) => ask(`/management/v1${path}`, { method: 'POST', body });
const get = (path: string) => ask(`/management/v1${path}`);

async function refused(path: string, asked: Ask): Promise<Problem & { headers: Headers }> {
  const { status, headers, json } = await ask(path, asked);
  const problem = Problem.parse(json);
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(problem.status).toBe(status);
  expect(headers.get('x-request-id')).toBe(problem.requestId);
  return { ...problem, headers };
}

describe('a token', () => {
  const key = () => new TextEncoder().encode(service.jwtSecret);
  const seconds = (fromNow: number): number => Math.floor(Date.now() / 1000) + fromNow;
  const signed = (payload: JWTPayload, alg = 'HS256', secret = key()) =>
    new SignJWT(payload).setProtectedHeader({ alg }).sign(secret);

  test.each([
    ['is missing', async () => null],
    ['is no JWT', async () => 'service_api_abc'],
    ['is signed with another secret', () => signed({ exp: seconds(60) }, 'HS256', new Uint8Array(32))],
    ['has expired', () => signed({ exp: seconds(-1) })],
    ['never expires', () => signed({})],
    ['is not valid yet', () => signed({ exp: seconds(120), nbf: seconds(60) })],
    ['is signed with another algorithm', () => signed({ exp: seconds(60) }, 'HS512')],
    ['is not signed', async () => new UnsecuredJWT({ exp: seconds(60) }).encode()],
  ])('that %s is refused', async (_, token) => {
    for (const path of ['/management/v1/accounts', '/management/v1/nothing', '/']) {
      const { status, code, headers } = await refused(path, { token: await token() });
      expect([status, code]).toEqual([401, 'unauthorized']);
      expect(headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('is accepted from every signer that knows the secret', async () => {
    const token = await signed({ sub: 'dashboard', exp: seconds(60) });
    expect((await ask('/management/v1/accounts', { token })).status).toBe(200);
  });
});

describe('a wrong request', () => {
  test('is answered by the service’s own errors', async () => {
    const account = { name: 'Acme' };
    const cases: readonly [string, Ask, number, string][] = [
      ['/management/v1/nothing', {}, 404, 'not_found'],
      ['/management/v1/accounts/', {}, 404, 'not_found'],
      ['/management/v1/Accounts', {}, 404, 'not_found'],
      ['/management/v1/accounts', { method: 'PUT', body: account }, 405, 'method_not_allowed'],
      ['/management/v1/accounts', { method: 'POST', body: '{' }, 400, 'validation_failed'],
      ['/management/v1/accounts', { method: 'POST', body: '[]' }, 400, 'validation_failed'],
      ['/management/v1/accounts', { method: 'POST', body: 'x'.repeat(102_401) }, 413, 'payload_too_large'],
      [
        '/management/v1/accounts',
        { method: 'POST', body: account, headers: { 'Content-Type': 'text/plain' } },
        415,
        'unsupported_media_type',
      ],
    ];
    for (const [path, asked, status, code] of cases) {
      const problem = await refused(path, asked);
      expect([problem.status, problem.code], path).toEqual([status, code]);
      expect(problem.headers.get('allow')).toBe(status === 405 ? 'GET, HEAD, POST' : null);
    }
  });

  test('names each wrong field', async () => {
    const { accountId } = (await post('/accounts', { name: 'Acme' })).json as { accountId: string };
    const id = randomUUID();
    const cases: readonly [string, string, unknown, string[]][] = [
      ['POST', '/accounts', {}, ['name']],
      ['POST', '/accounts', { name: ' ', plan: 'gold', colour: 'red' }, ['name', 'plan', 'colour']],
      ['PUT', '/accounts/7/plan', { plan: 'pro' }, ['accountId']],
      ['PUT', `/accounts/${accountId}/name`, { name: '' }, ['name']],
      ['DELETE', '/accounts/7', undefined, ['accountId']],
      ['GET', '/accounts/7/shares', undefined, ['accountId']],
      ['GET', '/apps/7/shares', undefined, ['appId']],
      ['POST', `/accounts/${accountId}/keys`, { name: 'x'.repeat(101) }, ['name']],
      ['PUT', `/accounts/${id}/plan`, { plan: '' }, ['plan']],
      ['POST', `/accounts/${accountId}/keys`, { expiresAt: '2027-01-01' }, ['expiresAt']],
      ['POST', `/accounts/${accountId}/keys`, { expiresAt: '2027-01-01T00:00:00' }, ['expiresAt']],
      ['POST', `/accounts/${accountId}/keys`, { expiresAt: '2027-02-29T00:00:00Z' }, ['expiresAt']],
      ['POST', `/accounts/${accountId}/keys`, { expiresAt: '2001-01-01T00:00:00Z' }, ['expiresAt']],
      ['POST', `/accounts/${accountId}/keys`, { expiresAt: '2300-01-01T00:00:00Z' }, ['expiresAt']],
      ['POST', `/keys/${id}/rotate`, { overlapSeconds: 1.5 }, ['overlapSeconds']],
      ['POST', `/keys/${id}/rotate`, { overlapSeconds: -1 }, ['overlapSeconds']],
      ['POST', `/apps/${id}/rotate-secret`, { expiresAt: '2030-01-01T00:00:00Z' }, ['expiresAt']],
      ['PUT', `/apps/${id}/retention`, { days: 0 }, ['days']],
      ['PUT', `/apps/${id}/retention`, { days: 1.5 }, ['days']],
      ['PUT', `/apps/${id}/retention`, {}, ['days']],
      ['PUT', `/apps/${id}/excluded-addresses`, {}, ['addresses']],
      [
        'PUT',
        `/apps/${id}/excluded-addresses`,
        { addresses: ['10.0.0.0/8', 'office', '10.0.0.0/33'] },
        ['addresses.1', 'addresses.2'],
      ],
      [
        'PUT',
        `/apps/${id}/excluded-addresses`,
        { addresses: Array.from({ length: 101 }, (_, i) => `10.0.0.${i}`) },
        ['addresses'],
      ],
      ['PUT', `/apps/x/shares/y`, undefined, ['appId', 'accountId']],
    ];
    for (const [method, path, body, fields] of cases) {
      const problem = await refused(`/management/v1${path}`, { method, body });
      expect(
        [problem.status, problem.errors?.map(({ field }) => field)],
        `${path} ${JSON.stringify(body)}`,
      ).toEqual([400, fields]);
    }
  });

  test('for an unknown id is not found', async () => {
    const id = randomUUID();
    const cases: readonly [string, string, unknown?][] = [
      ['PUT', `/accounts/${id}/plan`, { plan: 'pro' }],
      ['PUT', `/accounts/${id}/name`, { name: 'Acme' }],
      ['DELETE', `/accounts/${id}`],
      ['GET', `/accounts/${id}/shares`],
      ['GET', `/apps/${id}/shares`],
      ['GET', `/apps/${id}/retention`],
      ['PUT', `/apps/${id}/retention`, { days: 30 }],
      ['GET', `/apps/${id}/excluded-addresses`],
      ['PUT', `/apps/${id}/excluded-addresses`, { addresses: [] }],
      ['GET', `/accounts/${id}/keys`],
      ['POST', `/accounts/${id}/keys`],
      ['GET', `/accounts/${id}/apps`],
      ['POST', `/keys/${id}/rotate`],
      ['POST', `/keys/${id}/revoke`],
      ['POST', `/apps/${id}/rotate-secret`],
      ['DELETE', `/apps/${id}`],
      ['PUT', `/apps/${id}/shares/${id}`],
      ['DELETE', `/apps/${id}/shares/${id}`],
    ];
    for (const [method, path, body] of cases) {
      const { status, code } = await refused(`/management/v1${path}`, { method, body });
      expect([status, code], `${method} ${path}`).toEqual([404, 'not_found']);
    }
  });
});

test('an account, its keys and apps from beginning to end', async () => {
  const account = (await post('/accounts', { name: ' Acme ', plan: 'pro' })).json as { accountId: string };
  const { accountId } = account;
  expect(account).toEqual({ accountId, name: 'Acme', plan: 'pro', createdAt: expect.stringMatching(/Z$/) });
  expect((await get('/accounts')).json).toContainEqual(account);

  const created = await post(`/accounts/${accountId}/keys`, {
    name: 'CI',
    expiresAt: '2100-01-01T03:30:00+03:30',
  });
  const { keyId, apiKey } = created.json as { keyId: string; apiKey: string };
  expect(created.status).toBe(201);
  expect(created.headers.get('cache-control')).toBe('no-store');
  const keys = (await get(`/accounts/${accountId}/keys`)).json;
  expect(keys).toEqual([
    {
      keyId,
      name: 'CI',
      prefix: apiKey.slice(0, 18),
      state: 'active',
      createdAt: expect.any(String),
      expiresAt: '2100-01-01T00:00:00.000Z',
      revokedAt: null,
      lastUsedAt: null,
      replacedBy: null,
    },
  ]);

  const api = (key: string, init: RequestInit = {}) =>
    fetch(`${service.url}/api/v1/apps`, {
      ...init,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    });
  const made = await api(apiKey, {
    method: 'POST',
    body: JSON.stringify({ name: 'Shop', domain: 'https://shop.example' }),
  });
  const { id: appId, secretKey } = (await made.json()) as { id: string; secretKey: string };
  expect(made.status).toBe(201);
  expect((await get(`/accounts/${accountId}/apps`)).json).toEqual([
    {
      id: appId,
      name: 'Shop',
      domain: 'https://shop.example',
      access: 'owner',
      createdAt: expect.any(String),
    },
  ]);

  expect((await get('/apps')).json).toEqual([
    {
      id: appId,
      name: 'Shop',
      domain: 'https://shop.example',
      accountId,
      accountName: 'Acme',
      createdAt: expect.any(String),
    },
  ]);

  const rotatedKey = (await post(`/keys/${keyId}/rotate`)).json as { keyId: string; apiKey: string };
  expect((await get(`/accounts/${accountId}/keys`)).json).toMatchObject([
    { keyId, lastUsedAt: expect.stringMatching(/:00\.000Z$/), replacedBy: rotatedKey.keyId },
    { keyId: rotatedKey.keyId, name: 'CI', lastUsedAt: null, replacedBy: null },
  ]);
  expect([(await api(apiKey)).status, (await api(rotatedKey.apiKey)).status]).toEqual([401, 200]);
  const rotatedSecret = (await post(`/apps/${appId}/rotate-secret`, { overlapSeconds: 60 })).json as {
    secretKey: string;
  };
  expect(Object.keys(rotatedSecret)).toEqual(['secretKey']);

  const guest = (await post('/accounts', { name: 'Guest' })).json as { accountId: string };
  const share = `/management/v1/apps/${appId}/shares/${guest.accountId}`;
  expect((await ask(share, { method: 'PUT' })).status).toBe(200);
  expect((await get(`/accounts/${guest.accountId}/apps`)).json).toMatchObject([
    { id: appId, access: 'shared' },
  ]);
  const shared = {
    appId,
    appName: 'Shop',
    ownerName: 'Acme',
    accountId: guest.accountId,
    accountName: 'Guest',
  };
  expect((await get('/shares')).json).toMatchObject([shared]);
  expect((await get(`/apps/${appId}/shares`)).json).toMatchObject([shared]);
  expect((await get(`/accounts/${guest.accountId}/shares`)).json).toMatchObject([shared]);
  expect((await get(`/accounts/${accountId}/shares`)).json).toEqual([]);
  expect((await ask(share, { method: 'DELETE' })).status).toBe(200);
  expect((await get(`/accounts/${guest.accountId}/apps`)).json).toEqual([]);

  expect((await ask(`/management/v1/apps/${appId}`, { method: 'DELETE' })).json).toEqual({
    appId,
    deleted: true,
  });
  expect(await (await api(rotatedKey.apiKey)).json()).toEqual([]);

  const rename = { method: 'PUT', body: { name: ' Acme Ltd ' } };
  expect((await ask(`/management/v1/accounts/${accountId}/name`, rename)).json).toEqual({
    ...account,
    name: 'Acme Ltd',
  });
  expect((await ask(`/management/v1/accounts/${accountId}`, { method: 'DELETE' })).json).toEqual({
    accountId,
    deleted: true,
  });
  expect((await api(rotatedKey.apiKey)).status).toBe(401);

  const printed = service.printed();
  for (const secret of [
    apiKey,
    rotatedKey.apiKey,
    secretKey,
    rotatedSecret.secretKey,
    service.jwtSecret,
    'Bearer ',
  ]) {
    expect(printed).not.toContain(secret);
  }
  expect(printed).toContain('/keys/:keyId/rotate');
});

test('an app leaves out a hundred ranges at most, which the list holds in one spelling', async () => {
  const { accountId } = (await post('/accounts', { name: 'Acme' })).json as { accountId: string };
  const domain = 'https://shop.example';
  const { id } = (await post(`/accounts/${accountId}/apps`, { name: 'Shop', domain })).json as { id: string };
  const path = `/management/v1/apps/${id}/excluded-addresses`;
  const listed = (addresses: readonly string[]) => ({ status: 200, json: { appId: id, addresses } });
  const set = (addresses: readonly string[]) => ask(path, { method: 'PUT', body: { addresses } });
  expect(await ask(path)).toMatchObject(listed([]));
  const spelled = ['192.0.2.7', '2001:DB8:0::/32', ' 10.0.0.0/8 ', '2001:db8::9'];
  const others = Array.from({ length: 96 }, (_, i) => `198.51.100.${i}/32`);
  const whole = listed(['192.0.2.7/32', '2001:db8::/32', '10.0.0.0/8', '2001:db8::9/128', ...others]);
  expect(await set([...spelled, ...others])).toMatchObject(whole);
  expect(await set([...spelled, ...others, '203.0.113.7'])).toMatchObject({ status: 400 });
  expect(await ask(path)).toMatchObject(whole);
  expect(await set([])).toMatchObject(listed([]));
  expect(await ask(path)).toMatchObject(listed([]));
  await ask(`/management/v1/accounts/${accountId}`, { method: 'DELETE' });
});
