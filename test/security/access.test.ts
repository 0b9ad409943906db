import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { parametersOf } from '../../src/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { signManagementToken } from '../../src/management/token.ts';
import { newApiKey, newAppSecret } from '../../src/metadata/credentials.ts';
import { batchOf, type Running, running, SECRET, type Tenant } from '../faults/support.ts';
import { type Answer, type Ask, expectProblem, send } from '../http/support.ts';
import { requiredBy } from '../support/questions.ts';

let service: Running;
let owner: Tenant;
let friend: Tenant;
let former: Tenant;
let stranger: Tenant;
let token: string;

beforeAll(async () => {
  service = await running({ TRUST_PROXY: '1' });
  [owner, friend, former, stranger] = await Promise.all([
    service.newTenant(),
    service.newTenant(),
    service.newTenant(),
    service.newTenant(),
  ]);
  await service.record(owner.app, ['/of-the-owner']);
  await service.record(stranger.app, ['/of-the-stranger']);
  await service.admin('app', 'share', '--app', owner.app.id, '--account', friend.account);
  await service.admin('app', 'share', '--app', owner.app.id, '--account', former.account);
  await service.admin('app', 'unshare', '--app', owner.app.id, '--account', former.account);
  token = await signManagementToken(SECRET, () => epochMs(Date.now() + 3_600_000));
});
afterAll(() => service?.remove());

let addresses = 0;
/** Gives each request its own address, so that wrong credentials do not add up. */
const elsewhere = (): Record<string, string> => ({ 'X-Forwarded-For': `10.0.0.${addresses++ % 250}` });

/** A refusal without the parts that differ by request. */
const bodyOf = (answer: Answer): object => ({ ...(answer.json as object), requestId: '' });

const ABOUT_APPS = ENDPOINTS.filter(({ query }) => 'appId' in parametersOf(query).shape);
const MALFORMED = ['1', 'null', '../x', `{${randomUUID()}}`, `${randomUUID()}0`, '%00', "' OR 1=1 --"];

describe.each(ABOUT_APPS.map(({ operationId, path }) => [operationId, path] as const))(
  '%s',
  (operationId, path) => {
    const ask = (key: string | null, app: string, more: Ask = {}): Promise<Answer> =>
      service.ask(`${path}?appId=${encodeURIComponent(app)}${requiredBy(operationId)}`, {
        key,
        ...more,
        headers: { ...elsewhere(), ...more.headers },
      });

    test('own and shared apps are answered; unshared, foreign and unknown ones get one body; malformed ids are named', async () => {
      expect((await ask(owner.key, owner.app.id)).status).toBe(200);
      expect((await ask(friend.key, owner.app.id)).status).toBe(200);
      const refused = await Promise.all([
        ask(former.key, owner.app.id),
        ask(stranger.key, owner.app.id),
        ask(owner.key, stranger.app.id),
        ask(owner.key, randomUUID()),
        ask(owner.key, '00000000-0000-0000-0000-000000000000'),
        // Ids of other things.
        ask(owner.key, owner.account),
        ask(owner.key, owner.keyId),
      ]);
      for (const answer of refused) expectProblem(answer, 'app_access_denied');
      expect(new Set(refused.map((answer) => JSON.stringify(bodyOf(answer)))).size).toBe(1);
      for (const wrong of MALFORMED) expectProblem(await ask(owner.key, wrong), 'validation_failed');
    });

    test('no other credential gives access', async () => {
      for (const wrong of [
        owner.app.secretKey,
        newApiKey(),
        newAppSecret(),
        token,
        SECRET,
        owner.keyId,
        null,
      ]) {
        expectProblem(await ask(wrong, owner.app.id), 'unauthorized');
      }
    });

    test('an ETag belongs to one account, and gives no access', async () => {
      const own = await ask(owner.key, owner.app.id);
      const etag = own.headers['etag'] ?? '';
      const known = { headers: { 'If-None-Match': etag } };
      expect((await ask(owner.key, owner.app.id, known)).status).toBe(304);
      expect(own.headers['cache-control']).toContain('private');
      for (const key of [stranger.key, former.key]) {
        const answer = await ask(key, owner.app.id, known);
        expect(answer.headers['etag']).toBeUndefined();
        expectProblem(answer, 'app_access_denied');
        expectProblem(
          await ask(key, owner.app.id, { headers: { 'If-None-Match': '*' } }),
          'app_access_denied',
        );
      }
      expectProblem(await ask(null, owner.app.id, known), 'unauthorized');
      // The same question about another app has another answer.
      const other = await ask(stranger.key, stranger.app.id, known);
      expect(other.status).toBe(200);
      expect(other.text).not.toContain('of-the-owner');
      expect(own.text).not.toContain('of-the-stranger');
    });
  },
);

test('the end of a share also ends its cached answers', async () => {
  const guest = await service.newTenant();
  await service.admin('app', 'share', '--app', owner.app.id, '--account', guest.account);
  const path = `/api/v1/sessions/pageviews?appId=${owner.app.id}`;
  const shared = await service.ask(path, { key: guest.key });
  expect(shared.status).toBe(200);
  await service.admin('app', 'unshare', '--app', owner.app.id, '--account', guest.account);
  const headers = { 'If-None-Match': shared.headers['etag'] ?? '' };
  expectProblem(await service.ask(path, { key: guest.key, headers }), 'app_access_denied');
});

test('a deleted app is an unknown one', async () => {
  const app = await service.newApp(owner.key);
  await service.record(app, ['/']);
  const path = `/api/v1/sessions/pageviews?appId=${app.id}`;
  expect((await service.ask(path, { key: owner.key })).status).toBe(200);
  await service.admin('app', 'delete', '--yes', '--app', app.id);
  const gone = await service.ask(path, { key: owner.key });
  expectProblem(gone, 'app_access_denied');
  expect((await service.record(app, ['/'])).status).toBe(401);
});

test('a list of apps holds own and shared ones', async () => {
  const idsOf = async (key: string): Promise<string[]> =>
    ((await service.ask('/api/v1/apps', { key })).json as { id: string }[]).map(({ id }) => id).sort();
  expect(await idsOf(friend.key)).toEqual([friend.app.id, owner.app.id].sort());
  expect(await idsOf(former.key)).toEqual([former.app.id]);
  expect(await idsOf(stranger.key)).toEqual([stranger.app.id]);
});

test('SDK: an app and its own secret; every other pair gets one body', async () => {
  const post = (app: object): Promise<Answer> =>
    service.ask('/sdk/v1/events', {
      method: 'POST',
      body: { ...batchOf(owner.app, ['/sdk']), ...app },
      headers: elsewhere(),
    });
  expect((await post({})).status).toBe(200);
  const own = owner.app.secretKey;
  const pairs = [
    { secretKey: stranger.app.secretKey },
    { appId: stranger.app.id },
    { appId: randomUUID() },
    { secretKey: newAppSecret() },
    { secretKey: owner.key },
    { secretKey: own.toLowerCase() },
    { secretKey: `${own}0` },
    { secretKey: '' },
    ...MALFORMED.map((appId) => ({ appId })),
  ];
  const bodies = new Set<string>();
  for (const pair of pairs) {
    const answer = await post(pair);
    expectProblem(answer, 'unauthorized');
    bodies.add(JSON.stringify(bodyOf(answer)));
  }
  expect(bodies.size).toBe(1);
  for (const origin of ['https://evil.example', 'null', 'https://shop.example.evil.example']) {
    const answer = await service.ask('/sdk/v1/events', {
      method: 'POST',
      body: batchOf(owner.app, ['/']),
      headers: { Origin: origin },
    });
    expectProblem(answer, 'app_access_denied');
    // The page that sent it can read why. It has the app's secret, and gets nothing but the domain.
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
  }
});

/** Method, path with `:id` for the tested place, body. */
const MANAGEMENT: readonly (readonly [method: string, template: string, body: object | null])[] = [
  ['PUT', '/accounts/:id/plan', { plan: 'free' }],
  ['GET', '/accounts/:id/keys', null],
  ['POST', '/accounts/:id/keys', {}],
  ['GET', '/accounts/:id/apps', null],
  ['POST', '/keys/:id/rotate', {}],
  ['POST', '/keys/:id/revoke', null],
  ['POST', '/apps/:id/rotate-secret', {}],
  ['DELETE', '/apps/:id', null],
  ['PUT', '/apps/:id/shares/:account', null],
  ['DELETE', '/apps/:id/shares/:account', null],
  ['PUT', '/apps/:app/shares/:id', null],
  ['DELETE', '/apps/:app/shares/:id', null],
  ['POST', '/apps/:id/import', { sessions: [] }],
];

test.each(MANAGEMENT)(
  'management: %s %s refuses unknown and malformed ids, and every other credential',
  async (method, template, body) => {
    const base = service.managementUrl;
    const call = (id: string, key: string | null = token): Promise<Answer> => {
      const path = template
        .replace(':id', encodeURIComponent(id))
        .replace(':account', stranger.account)
        .replace(':app', owner.app.id);
      return send(base, `/management/v1${path}`, { method, key, ...(body === null ? {} : { body }) });
    };
    const unknown = await call(randomUUID());
    expectProblem(unknown, 'not_found');
    for (const wrong of MALFORMED.filter((each) => each !== '../x'))
      expectProblem(await call(wrong), 'validation_failed');
    const right = template.startsWith('/keys')
      ? owner.keyId
      : template.startsWith('/apps/:id')
        ? owner.app.id
        : owner.account;
    for (const wrong of [owner.key, owner.app.secretKey, SECRET, `${token}x`, null])
      expectProblem(await call(right, wrong), 'unauthorized');
    const foreign = await signManagementToken(`${SECRET}!`, () => epochMs(Date.now()));
    const old = await signManagementToken(SECRET, () => epochMs(Date.now() - 3_600_000));
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`;
    for (const wrong of [foreign, old, unsigned]) expectProblem(await call(right, wrong), 'unauthorized');
    // None of these requests changed anything.
    expect((await service.ask('/api/v1/apps', { key: owner.key })).status).toBe(200);
    expect((await service.record(owner.app, ['/'])).status).toBe(200);
  },
);
