import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { newApiKey, newAppSecret } from '../../src/metadata/credentials.ts';
import { type Running, running, type Tenant } from '../faults/support.ts';
import { type Answer, expectProblem, sendRaw } from '../http/support.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts';

let bridge: BridgeProcess;
let proxy: FaultProxy;
let service: Running;
let tenant: Tenant;

beforeAll(async () => {
  bridge = await bridgeProcess();
  proxy = await faultProxy(bridge.url);
  service = await running({
    CLICKHOUSE_URL: proxy.url,
    CLICKHOUSE_USER: bridge.username,
    CLICKHOUSE_PASSWORD: bridge.password,
    TRUST_PROXY: '1',
  });
  tenant = await service.newTenant();
});
afterAll(async () => {
  await service?.remove();
  await proxy?.close();
  await bridge?.close();
});

const from = (address: string, key: string, path = '/api/v1/apps'): Promise<Answer> =>
  service.ask(path, { key, headers: { 'X-Forwarded-For': address } });

/** Resolves after two looks for changes: after the first one, what has changed is read anew in the background. */
async function settled(): Promise<void> {
  const looks = () => proxy.requests.filter((text) => text.includes('cityHash64')).length;
  const before = looks();
  await expect.poll(looks).toBeGreaterThanOrEqual(before + 2);
}

/**
 * Returns the look-ups of keys, accounts and apps while `work` ran, without the statements of jobs: those that
 * look for changes and for deleted accounts.
 */
async function lookUps(work: () => Promise<unknown>): Promise<string[]> {
  const before = proxy.requests.length;
  await work();
  return proxy.requests
    .slice(before)
    .filter((text) => !/cityHash64|apps of deleted accounts/.test(text))
    .flatMap((text) => /FROM (api_keys|accounts|apps|app_secrets|app_shares) /.exec(text)?.[1] ?? []);
}

test('one address: 30 wrong keys in a minute, then the same refusal for all; a valid key passes', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => from('198.51.100.1', newApiKey())));
  const codes = answers.map(({ json }) => (json as { code: string }).code);
  expect(codes.filter((code) => code === 'unauthorized')).toHaveLength(30);
  expect(codes.filter((code) => code === 'too_many_invalid_attempts')).toHaveLength(30);
  for (const answer of answers) expect(answer.status).toBe(401);
  expect((await from('198.51.100.1', tenant.key)).status).toBe(200);
  // The SDK's endpoint counts with it.
  const wrong = { appId: tenant.app.id, secretKey: newAppSecret(), batchId: tenant.account, sessions: [] };
  const sdk = await service.ask('/sdk/v1/events', {
    method: 'POST',
    body: wrong,
    headers: { 'X-Forwarded-For': '198.51.100.1' },
  });
  expectProblem(sdk, 'too_many_invalid_attempts');
});

test('many addresses: all refused, with few look-ups, and valid keys still work', async () => {
  let right: Promise<Answer>[] = [];
  const asked = await lookUps(async () => {
    const guesses = Array.from({ length: 600 }, (_, i) => from(`203.0.113.${i % 250}`, newApiKey()));
    right = Array.from({ length: 20 }, (_, i) => from(`203.0.113.${i}`, tenant.key));
    for (const answer of await Promise.all(guesses)) expect(answer.status).toBe(401);
  });
  for (const answer of await Promise.all(right)) expect(answer.status).toBe(200);
  // Keys that arrive during a look-up share the next one.
  expect(asked.filter((table) => table === 'api_keys').length).toBeLessThan(300);
});

test('an unknown, a revoked and an expired key cost the same work, a malformed one none', async () => {
  const revoked = await service.newKey(tenant.account);
  await service.admin('key', 'revoke', '--key', revoked.keyId);
  const end = Date.now() + 8_000;
  const soon = new Date(end).toISOString();
  const created = await service.admin('key', 'create', '--account', tenant.account, '--expires', soon);
  const { apiKey: expired } = z.object({ apiKey: z.string() }).parse(created);
  await settled();
  await sleep(Math.max(0, end + 100 - Date.now()));
  const bodies = new Set<string>();
  for (const key of [newApiKey(), revoked.key, expired]) {
    let answer: Answer | undefined;
    const asked = await lookUps(async () => {
      answer = await from('192.0.2.1', key);
    });
    expect(asked).toEqual(['api_keys']);
    if (answer !== undefined)
      bodies.add(JSON.stringify({ ...expectProblem(answer, 'unauthorized'), requestId: '' }));
  }
  expect(bodies.size).toBe(1);
  for (const key of ['service_api_x', `${tenant.key}0`, tenant.key.toUpperCase(), newAppSecret()]) {
    expect(await lookUps(() => from('192.0.2.1', key))).toEqual([]);
  }
});

test('an unknown app and a wrong secret cost the same work at the SDK', async () => {
  const other = await service.newTenant();
  await settled();
  const unknown = { ...other.app, id: '6f1c2a34-9b1e-4c52-8f0e-2d6f5c1b7a90' };
  const wrongSecret = { ...other.app, secretKey: newAppSecret() };
  for (const app of [unknown, wrongSecret]) {
    const asked = await lookUps(async () => {
      expect((await service.record(app, ['/'])).status).toBe(401);
    });
    expect(asked.sort()).toEqual(['app_secrets', 'apps']);
  }
});

test('an expiry takes effect to the moment', async () => {
  const at = Math.ceil(Date.now() / 1000) * 1000 + 5_000;
  const created = await service.admin(
    'key',
    'create',
    '--account',
    tenant.account,
    '--expires',
    new Date(at).toISOString(),
  );
  const { apiKey } = z.object({ apiKey: z.string() }).parse(created);
  const seen = new Set<number>();
  while (!seen.has(401)) {
    const began = Date.now();
    const { status } = await from('192.0.2.2', apiKey);
    if (Date.now() < at) expect(status).toBe(200);
    if (began >= at) expect(status).toBe(401);
    seen.add(status);
    await sleep(20);
  }
  expect(seen).toEqual(new Set([200, 401]));
});

test('Authorization in odd forms: twice, oddly cased, too long, not ASCII', async () => {
  const { key } = tenant;
  const raw = (...headers: string[]): Promise<Answer> =>
    sendRaw(
      service.url,
      ['GET /api/v1/apps HTTP/1.1', 'Host: a', 'Connection: close', ...headers, '', ''].join('\r\n'),
    );
  for (const right of [
    `AUTHORIZATION: Bearer ${key}`,
    `authorization: bearer ${key}`,
    `aUTHORIZATION: bEARER   ${key}`,
    `Authorization:Bearer ${key}   `,
  ]) {
    expect((await raw(right)).status).toBe(200);
  }
  for (const wrong of [
    [`Authorization: Bearer ${key}`, `authorization: Bearer ${key}`],
    [`Authorization: Bearer ${key}, Bearer ${key}`],
    [`Authorization: Bearer ${key.toLowerCase()}`],
    [`Authorization: Bearer ${key}\u00e9`],
    [`Authorization: Bearer \u00a0${key}`],
    [`Authorization: Bearer "${key}"`],
    [`Authorization: Bearer ${key.slice(0, -1)}`],
    [`Authorization: Bearer ${'A'.repeat(15_000)}`],
    [`Authorization: Bearer ${key}${'A'.repeat(10_000)}`],
    [`Proxy-Authorization: Bearer ${key}`],
    [`Cookie: Authorization=Bearer ${key}`],
  ]) {
    expectProblem(await raw(...wrong), 'unauthorized');
  }
  expectProblem(await raw(`Authorization: Bearer ${'A'.repeat(20_000)}`), 'headers_too_large');
  expectProblem(await raw(`Authorization: Bearer ${key}\u0000`), 'bad_request');
});
