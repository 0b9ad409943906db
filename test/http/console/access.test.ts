import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConsoleAnswers } from '../../../src/http/console/schemas.ts';
import { openStream } from '../../support/event-stream.ts';
import type { Answer } from '../../support/http.ts';
import { questionPath } from '../../support/questions.ts';
import { OPERATIONS, READING, withService } from '../operations.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';
import { endpointOf, type Tenant } from '../support.ts';
import { asPage, BEHIND_PROXY, expectProblem, type Person, signIn, viewer } from './support.ts';

const service = withService({ ...AT_NOON, env: BEHIND_PROXY });
let mine: Tenant;
let owner: Person;
let looker: Person;
let stranger: Person;
beforeAll(async () => {
  mine = await service().newTenant();
  await service().record(SAMPLE, mine.app);
  owner = await signIn(service(), mine.account);
  looker = await viewer(service(), mine.account);
  stranger = await signIn(service(), (await service().newAccount()).account);
});

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Checks an answer against the schema that is documented for it. */
function valid<R extends keyof ConsoleAnswers>(route: R, answer: Answer): ConsoleAnswers[R] {
  expect(answer.status, answer.text).toBeLessThan(300);
  return ConsoleAnswers[route].parse(answer.json) as ConsoleAnswers[R];
}

describe('the Public API by session', () => {
  test.each(READING)('%s gives the answer that a key gives, under the same tag', async (operationId) => {
    const path = questionPath(endpointOf(operationId), mine.app);
    const byKey = await mine.ask(path);
    for (const person of [owner, looker]) {
      const answer = await person.ask(path.replace('/api', ''));
      expect([answer.text, answer.headers['etag']]).toEqual([byKey.text, byKey.headers['etag']]);
    }
    if (operationId !== 'listApps') {
      expectProblem(await stranger.ask(path.replace('/api', '')), 'app_access_denied');
    }
  });

  test.each(OPERATIONS)('%s needs a session', async (operationId) => {
    const { method, path } = endpointOf(operationId);
    const answer = await asPage(service(), null, path.replace('/api', ''), { method: method.toUpperCase() });
    expectProblem(answer, 'unauthorized');
  });

  test('an owner creates an app, a viewer does not', async () => {
    const body = { name: 'Blog', domain: `https://${randomUUID()}.example` };
    expectProblem(await looker.ask('/v1/apps', { method: 'POST', body }), 'forbidden');
    const { status, json } = await owner.ask('/v1/apps', { method: 'POST', body });
    expect([status, (json as { secretKey: string }).secretKey]).toEqual([
      201,
      expect.stringMatching(/^app_secret_/),
    ]);
  });

  test('a stream ends with the session', async () => {
    const person = await signIn(service(), mine.account);
    const path = `/dashboard/api/v1/sessions/pageviews?appId=${mine.app}`;
    const { next, close } = await openStream(service().url, path, { headers: { Cookie: person.cookie } });
    closing.push(close);
    expect(JSON.parse((await next())?.data ?? '')).toHaveLength(2);
    await person.ask('/sign-out', { method: 'POST' });
    const last = await next();
    expect([last?.event, JSON.parse(last?.data ?? '').code]).toEqual(['end', 'unauthorized']);
  });
});

describe('keys', () => {
  test('are created, rotated with an overlap and revoked; each works until it ends', async () => {
    const works = async (key: string): Promise<boolean> =>
      (await service().ask('/api/v1/apps', { key })).status === 200;
    const created = valid('POST /keys', await owner.ask('/keys', { method: 'POST', body: { name: 'CI' } }));
    expect(await works(created.apiKey)).toBe(true);
    const rotation = { method: 'POST', body: { overlapSeconds: 3_600 } };
    const rotated = valid(
      'POST /keys/:keyId/rotate',
      await owner.ask(`/keys/${created.keyId}/rotate`, rotation),
    );
    expect([await works(created.apiKey), await works(rotated.apiKey)]).toEqual([true, true]);
    const path = `/keys/${rotated.keyId}/revoke`;
    expect(valid('POST /keys/:keyId/revoke', await owner.ask(path, { method: 'POST' })).state).toBe(
      'revoked',
    );
    expect(await works(rotated.apiKey)).toBe(false);
    for (const person of [owner, looker]) {
      const list = valid('GET /keys', await person.ask('/keys'));
      const shown = list.find(({ keyId }) => keyId === created.keyId);
      expect(shown).toMatchObject({ name: 'CI', state: 'active', replacedBy: rotated.keyId });
    }
    expect(valid('GET /keys', await stranger.ask('/keys'))).toHaveLength(1);
  });
});

describe('apps', () => {
  test('get another secret, are shared, and are deleted by typing their name', async () => {
    const { app } = await service().newTenant();
    const other = await service().newAccount();
    const body = { name: 'Shop two', domain: `https://${randomUUID()}.example` };
    const created = (await owner.ask('/v1/apps', { method: 'POST', body })).json as { id: string };
    const at = `/apps/${created.id}`;
    const secret = await owner.ask(`${at}/rotate-secret`, { method: 'POST' });
    expect(valid('POST /apps/:appId/rotate-secret', secret).secretKey).toMatch(/^app_secret_/);
    const share = `${at}/shares/${other.account}`;
    valid('PUT /apps/:appId/shares/:accountId', await owner.ask(share, { method: 'PUT' }));
    const shares = valid('GET /apps/:appId/shares', await looker.ask(`${at}/shares`));
    expect(shares).toEqual([{ accountId: other.account, accountName: 'Acme' }]);
    valid('DELETE /apps/:appId/shares/:accountId', await owner.ask(share, { method: 'DELETE' }));
    const retain = (name: string, days: unknown) =>
      owner.ask(`${at}/retention`, { method: 'PUT', body: { name, days } });
    expectProblem(await retain('another name', 30), 'validation_failed');
    expectProblem(await retain('Shop two', 0), 'validation_failed');
    expect(valid('PUT /apps/:appId/retention', await retain('Shop two', 30)).days).toBe(30);
    expect(valid('GET /apps/:appId/retention', await looker.ask(`${at}/retention`)).days).toBe(30);
    const exclude = (...addresses: unknown[]) =>
      owner.ask(`${at}/excluded-addresses`, { method: 'PUT', body: { addresses } });
    expectProblem(await exclude('office'), 'validation_failed');
    valid('PUT /apps/:appId/excluded-addresses', await exclude('192.0.2.7'));
    expect(
      valid('GET /apps/:appId/excluded-addresses', await looker.ask(`${at}/excluded-addresses`)).addresses,
    ).toEqual(['192.0.2.7/32']);
    const wrong = { method: 'POST', body: { name: 'shop two' } };
    expectProblem(await owner.ask(`${at}/delete`, wrong), 'validation_failed');
    const right = { method: 'POST', body: { name: 'Shop two' } };
    valid('POST /apps/:appId/delete', await owner.ask(`${at}/delete`, right));
    expectProblem(await owner.ask(`${at}/shares`), 'not_found');
    expect(app).not.toBe(created.id);
  });
});

test('nobody sees or changes another account, and a viewer changes nothing', async () => {
  const [key] = await service().metadata.listKeys(mine.account);
  if (key === undefined) throw new Error('no key');
  const { account } = await service().newAccount();
  const changes: readonly (readonly [string, string, object?])[] = [
    ['POST', '/keys'],
    ['POST', `/keys/${key.keyId}/rotate`],
    ['POST', `/keys/${key.keyId}/revoke`],
    ['POST', `/apps/${mine.app}/rotate-secret`],
    ['POST', `/apps/${mine.app}/delete`, { name: 'Shop' }],
    ['PUT', `/apps/${mine.app}/shares/${account}`],
    ['PUT', `/apps/${mine.app}/retention`],
    ['PUT', `/apps/${mine.app}/excluded-addresses`, { addresses: [] }],
    ['DELETE', `/apps/${mine.app}/shares/${account}`],
  ];
  for (const [method, path, body] of changes) {
    const ask = { method, ...(body === undefined ? {} : { body }) };
    expectProblem(await looker.ask(path, ask), 'forbidden');
    if (path !== '/keys') expectProblem(await stranger.ask(path, ask), 'not_found');
  }
  expectProblem(await stranger.ask(`/apps/${mine.app}/shares`), 'not_found');
  expectProblem(await stranger.ask(`/apps/${mine.app}/retention`), 'not_found');
  expectProblem(await stranger.ask(`/apps/${mine.app}/excluded-addresses`), 'not_found');
  expect((await mine.ask('/api/v1/apps')).status).toBe(200);
  expect(
    valid('GET /audit', await stranger.ask('/audit')).every(({ accountId }) => accountId !== mine.account),
  ).toBe(true);
});

test('docs/console.md names every request', () => {
  const text = readFileSync(new URL('../../../docs/console.md', import.meta.url), 'utf8');
  for (const route of Object.keys(ConsoleAnswers)) expect(text).toContain(`| \`${route}\` |`);
});

test('a person changes between accounts, and only between those of the person', async () => {
  const [one, two, other] = await Promise.all([1, 2, 3].map(() => service().newAccount()));
  if (one === undefined || two === undefined || other === undefined) throw new Error('no accounts');
  const email = 'both@example.com';
  await service().metadata.setMember(one.account, email, 'owner');
  await service().metadata.setMember(two.account, email, 'viewer');
  const person = await signIn(service(), one.account, email);
  const session = valid('GET /session', await person.ask('/session'));
  expect(session.accounts.map(({ accountId, role }) => [accountId, role]).sort()).toEqual(
    [
      [one.account, 'owner'],
      [two.account, 'viewer'],
    ].sort(),
  );
  const choose = (accountId: string) =>
    person.ask('/session/account', { method: 'PUT', body: { accountId } });
  expectProblem(await choose(other.account), 'not_found');
  expect(valid('PUT /session/account', await choose(two.account)).role).toBe('viewer');
  expectProblem(await person.ask('/session'), 'unauthorized');
});

test('usage counts the requests of each key, and those that were refused', async () => {
  const { account, key } = await service().newAccount();
  const person = await signIn(service(), account);
  await Promise.all(Array.from({ length: 123 }, () => service().ask('/api/v1/apps', { key })));
  const last = async () => {
    const { requestsPerMinute, keys } = valid('GET /usage', await person.ask('/usage'));
    expect([requestsPerMinute, keys.length]).toEqual([120, 1]);
    return keys[0]?.hours.at(-1);
  };
  const expected = { hour: '2026-11-20T12:00:00.000Z', requests: 123, limited: 3 };
  expect(await last()).toEqual(expected);
  await service().metadata.writeKeyUses();
  expect(await last()).toEqual(expected);
});

test('the audit says who did what, and with which outcome', async () => {
  const { account, key } = await service().newAccount();
  const email = 'owner@example.com';
  await service().metadata.setMember(account, email, 'owner');
  const person = await signIn(service(), account, email);
  const { keyId } = valid('POST /keys', await person.ask('/keys', { method: 'POST', body: { name: 'CI' } }));
  const body = { name: 'Blog', domain: `https://${randomUUID()}.example` };
  await service().ask('/api/v1/apps', { key, method: 'POST', body });
  await service().ask('/api/v1/apps', { key, method: 'POST', body });
  await service().metadata.setPlan(account, 'free');
  await service().metadata.renameAccount(account, 'Acme Ltd');
  const keys = await service().metadata.listKeys(account);
  const first = keys.find((each) => each.keyId !== keyId);
  const entries = valid('GET /audit', await person.ask('/audit'));
  const said = entries.map(({ actor, action, outcome }) => `${actor} ${action} ${outcome}`).sort();
  expect(said).toEqual(
    [
      'operator key.create done',
      'operator member.set done',
      'operator link.create done',
      'operator account.plan done',
      'operator account.rename done',
      `${email} session.open done`,
      `${email} key.create done`,
      `key ${first?.keyId} app.create done`,
      `key ${first?.keyId} app.create domain_conflict`,
    ].sort(),
  );
  expect(entries.find(({ subject }) => subject === keyId)).toMatchObject({ details: { name: 'CI' } });
  expect(JSON.stringify(entries)).not.toMatch(/service_api_|app_secret_/);
});

test('the deletion of an account stays in the audit of the operator', async () => {
  const { account } = await service().newAccount();
  await service().metadata.deleteAccount(account);
  await service().metadata.resumeDeletions();
  const entries = await service().metadata.listAudit(null);
  expect(entries.filter(({ accountId }) => accountId === account)).toEqual([]);
  expect(entries.find(({ subject }) => subject === account)).toMatchObject({
    actor: 'operator',
    action: 'account.delete',
    outcome: 'done',
  });
});
