import { describe, expect, test } from 'vitest';
import { type Answer, send } from '../../support/http.ts';
import { withService } from '../operations.ts';
import {
  asPage,
  BEHIND_PROXY,
  cookieOf,
  expectProblem,
  personWith,
  redeem,
  signIn,
  viewer,
} from './support.ts';

const service = withService({ now: '2026-11-20T12:00:00Z', env: BEHIND_PROXY });
const HOUR_MS = 3_600_000;

describe('a sign-in link', () => {
  test('signs in once, as an owner', async () => {
    const { account } = await service().newTenant();
    const now = service().clock.now().getTime();
    const { token, expiresAt } = await service().metadata.createSignInLink(account, '');
    expect(Date.parse(expiresAt) - now).toBe(10 * 60_000);
    const answers = await Promise.all(Array.from({ length: 5 }, () => redeem(service(), token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
    const signedIn = answers.find(({ status }) => status === 200);
    if (signedIn === undefined) throw new Error('nobody is signed in');
    expect(signedIn.json).toEqual({
      account: { accountId: account, name: 'Acme', plan: 'pro' },
      email: null,
      role: 'owner',
      expiresAt: new Date(now + 12 * HOUR_MS).toISOString(),
      accounts: [{ accountId: account, name: 'Acme', role: 'owner' }],
    });
    const [set] = [signedIn.headers['set-cookie'] ?? []].flat();
    expect(set).toMatch(
      /^analytics_session=eyJ[\w.-]+; Max-Age=43200; Path=\/dashboard; HttpOnly; SameSite=Strict$/,
    );
    expect(signedIn.headers['cache-control']).toBe('no-store');
    const session = await personWith(service(), cookieOf(signedIn)).ask('/session');
    expect(session.json).toEqual(signedIn.json);
  });

  test('expires after 10 minutes', async () => {
    const { account } = await service().newTenant();
    const [early, late] = await Promise.all([
      service().metadata.createSignInLink(account, ''),
      service().metadata.createSignInLink(account, ''),
    ]);
    service().clock.advance(10 * 60_000 - 1);
    expect((await redeem(service(), early.token)).status).toBe(200);
    service().clock.advance(1);
    expectProblem(await redeem(service(), late.token), 'unauthorized');
  });

  test('is made for members only, and for accounts that exist', async () => {
    const { account } = await service().newTenant();
    const made = service().metadata.createSignInLink(account, 'stranger@example.com');
    await expect(made).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a session', () => {
  test('ends with a sign-out, at once, although the cookie is still there', async () => {
    const { account } = await service().newTenant();
    const person = await signIn(service(), account);
    const out = await person.ask('/sign-out', { method: 'POST' });
    expect(out.json).toEqual({ signedOut: true });
    expect(out.headers['set-cookie']).toEqual([
      'analytics_session=; Max-Age=0; Path=/dashboard; HttpOnly; SameSite=Strict',
    ]);
    expectProblem(await person.ask('/session'), 'unauthorized');
  });

  test('ends after 12 hours', async () => {
    const { account } = await service().newTenant();
    const person = await signIn(service(), account);
    service().clock.advance(12 * HOUR_MS - 1);
    expect((await person.ask('/session')).status).toBe(200);
    service().clock.advance(1);
    expectProblem(await person.ask('/session'), 'unauthorized');
  });

  test('ends with the membership, the account, and when the operator ends all', async () => {
    const { account } = await service().newTenant();
    const member = await viewer(service(), account);
    const { token } = await service().metadata.createSignInLink(account, 'viewer@example.com');
    await service().metadata.removeMember(account, 'viewer@example.com');
    expectProblem(await member.ask('/session'), 'unauthorized');
    // Nor does a new membership bring the session back, or a link from before.
    await service().metadata.setMember(account, 'viewer@example.com', 'owner');
    expectProblem(await member.ask('/session'), 'unauthorized');
    expectProblem(await redeem(service(), token), 'unauthorized');
    const owner = await signIn(service(), account);
    expect(await service().metadata.endSessions(account)).toEqual({ ended: 1 });
    expectProblem(await owner.ask('/session'), 'unauthorized');
    const other = await signIn(service(), account);
    await service().metadata.deleteAccount(account);
    expectProblem(await other.ask('/session'), 'unauthorized');
  });

  test('has a cookie for HTTPS only if a trusted proxy was asked by HTTPS', async () => {
    const { account } = await service().newTenant();
    const { token } = await service().metadata.createSignInLink(account, '');
    const headers = { 'X-Forwarded-For': '10.1.2.3', 'X-Forwarded-Proto': 'https' };
    const answer = await asPage(service(), null, '/sign-in/link', {
      method: 'POST',
      body: { token },
      headers,
    });
    expect(String(answer.headers['set-cookie'])).toMatch(/; Secure/);
  });

  test('shares its window with the other sessions of the same person', async () => {
    const { account } = await service().newTenant();
    const one = await viewer(service(), account);
    const other = await signIn(service(), account, 'viewer@example.com');
    const left = async (ask: Promise<Answer>) => Number((await ask).headers['x-ratelimit-remaining']);
    const first = await left(one.ask('/session'));
    expect(await left(other.ask('/session'))).toBe(first - 1);
    const chosen = await one.ask('/session/account', { method: 'PUT', body: { accountId: account } });
    expect(chosen.status).toBe(200);
    expect(await left(personWith(service(), cookieOf(chosen)).ask('/session'))).toBe(first - 3);
  });

  test('needs the very cookie that was given', async () => {
    const { account } = await service().newTenant();
    const { cookie } = await signIn(service(), account);
    const [name = '', token = ''] = cookie.split('=');
    const [head = '', body = '', signature = ''] = token.split('.');
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
    const forged = [
      null,
      `${name}=`,
      `${name}=x`,
      `${name}=${head}.${body}.${signature.slice(0, -4)}AAAA`,
      `${name}=${none}.${body}.`,
      `${cookie}; ${cookie}`,
      `other=${token}`,
    ];
    for (const value of forged) expectProblem(await asPage(service(), value, '/session'), 'unauthorized');
    // A key is no session, and a session no key.
    const { key } = service();
    expectProblem(await asPage(service(), null, '/session', { key }), 'unauthorized');
    expectProblem(await service().ask('/api/v1/apps', { key: token }), 'unauthorized');
    expectProblem(
      await service().ask('/api/v1/apps', { key: null, headers: { Cookie: cookie } }),
      'unauthorized',
    );
  });
});

test('a request that changes something must come from a page of the console', async () => {
  const { account } = await service().newTenant();
  const { cookie } = await signIn(service(), account);
  const { token } = await service().metadata.createSignInLink(account, '');
  const ask = { method: 'POST', body: { name: 'CI' } };
  for (const Origin of [
    'https://evil.example',
    'null',
    'http://127.0.0.1:1',
    `${service().url}.evil.example`,
  ]) {
    const headers = { Origin };
    expectProblem(await asPage(service(), cookie, '/keys', { ...ask, headers }), 'forbidden');
    expectProblem(await asPage(service(), cookie, '/sign-out', { method: 'POST', headers }), 'forbidden');
    const link = { method: 'POST', body: { token }, headers };
    expectProblem(await asPage(service(), null, '/sign-in/link', link), 'forbidden');
  }
  // Without an Origin, as from a form of an old browser.
  const bare = await send(service().url, '/dashboard/api/keys', { ...ask, headers: { Cookie: cookie } });
  expectProblem(bare, 'forbidden');
  expect(await service().metadata.listKeys(account)).toHaveLength(1);
});

test('attempts to sign in are limited by address', async () => {
  const tries = await Promise.all(
    Array.from({ length: 30 }, () => redeem(service(), 'x'.repeat(43), '192.0.2.1')),
  );
  const limited = tries.filter(({ status }) => status === 429);
  expect(limited.length).toBeGreaterThanOrEqual(20);
  for (const answer of limited) expectProblem(answer, 'rate_limited');
});
