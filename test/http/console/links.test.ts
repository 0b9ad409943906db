import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AppId } from '../../../src/domain/ids.ts';
import { ConsoleAnswers, LinkAnswer } from '../../../src/http/console/schemas.ts';
import { openStream } from '../../support/event-stream.ts';
import { type Answer, type Ask, send } from '../../support/http.ts';
import { questionPath } from '../../support/questions.ts';
import { ABOUT_APP, parameters, withService } from '../operations.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';
import { endpointOf, expectInvalid, type Tenant } from '../support.ts';
import { BEHIND_PROXY, expectProblem, type Person, signIn, viewer } from './support.ts';

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

type Created = ConsoleAnswers['POST /apps/:appId/links'];

async function made(body: object = {}, app: AppId = mine.app, person = owner): Promise<Created> {
  const ask = { method: 'POST', body: { name: 'Partners', ...body } };
  const answer = await person.ask(`/apps/${app}/links`, ask);
  expect(answer.status, answer.text).toBe(201);
  return ConsoleAnswers['POST /apps/:appId/links'].parse(answer.json);
}

/** A request of somebody who opened a link. */
const open = ({ token }: Pick<Created, 'token'>, path: string, more: Ask = {}): Promise<Answer> =>
  send(service().url, `/shared/api${path}`, { key: token, ...more });

const linksOf = async (person: Person): Promise<ConsoleAnswers['GET /apps/:appId/links']> =>
  ConsoleAnswers['GET /apps/:appId/links'].parse((await person.ask(`/apps/${mine.app}/links`)).json);

const revoke = (linkId: string, person = owner): Promise<Answer> =>
  person.ask(`/apps/${mine.app}/links/${linkId}/revoke`, { method: 'POST' });

/** Both bounds: without them, some answers would begin with the data of other sessions. */
const RANGE = '&from=2026-11-01T00:00:00Z&to=2026-11-30T23:59:59.999Z';
const rangeOf = (operationId: string): string => ('from' in parameters(operationId) ? RANGE : '');
const pathOf = (operationId: string, app: string = mine.app): string =>
  `${questionPath(endpointOf(operationId), app).replace('/api', '')}${rangeOf(operationId)}`;

test('a link says what it shows, and nothing of the account', async () => {
  const link = await made({ segment: 'country==IR', expiresAt: '2026-12-31T00:00:00Z' });
  const answer = await open(link, '/link');
  expect(LinkAnswer.parse(answer.json)).toEqual({
    appId: mine.app,
    appName: 'Shop',
    segment: 'country==IR',
    expiresAt: '2026-12-31T00:00:00.000Z',
  });
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(Number(answer.headers['x-ratelimit-limit'])).toBe(3_600);
});

describe('an answer by a link', () => {
  test.each(ABOUT_APP)('%s without a segment is that of a key', async (operationId) => {
    const link = await made();
    const byKey = await mine.ask(`/api${pathOf(operationId)}`);
    const byLink = await open(link, pathOf(operationId));
    expect([byLink.status, byLink.text]).toEqual([200, byKey.text]);
    expect(byLink.headers['server-timing']).toBeUndefined();
  });

  test.each(ABOUT_APP.filter((each) => 'segment' in parameters(each)))(
    '%s with a segment counts only what meets both',
    async (operationId) => {
      const link = await made({ segment: 'source==news' });
      const byKey = (segment: string) =>
        mine.ask(`/api${pathOf(operationId)}&segment=${encodeURIComponent(segment)}`);
      const narrow = await open(link, pathOf(operationId));
      expect([narrow.status, narrow.text]).toEqual([200, (await byKey('source==news')).text]);
      // Nothing that the caller adds makes it wider.
      for (const more of ['source==,source==news', 'source==', 'country!=IR', 'page==/', 'source==news']) {
        const asked = await open(link, `${pathOf(operationId)}&segment=${encodeURIComponent(more)}`);
        expect([asked.status, asked.text]).toEqual([200, (await byKey(`source==news;${more}`)).text]);
      }
    },
  );
});

test('a list is made once, and shown without tokens; the audit knows who made and ended it', async () => {
  const link = await made({ name: 'Board', origins: ['https://Board.example/', 'http://localhost:8080'] });
  expect(link).toMatchObject({ name: 'Board', segment: null, state: 'active', expiresAt: null });
  expect(link.origins).toEqual(['https://board.example', 'http://localhost:8080']);
  const { token, ...shown } = link;
  for (const person of [owner, looker]) expect(await linksOf(person)).toContainEqual(shown);
  expect(JSON.stringify(await linksOf(owner))).not.toContain(token.slice(-46));
  const at = `/apps/${mine.app}/links/${link.linkId}`;
  const origins = { method: 'PUT', body: { origins: ['https://other.example'] } };
  expect((await owner.ask(`${at}/origins`, origins)).json).toMatchObject({
    origins: ['https://other.example'],
  });
  expect((await revoke(link.linkId)).json).toMatchObject({ state: 'revoked' });
  const again = await revoke(link.linkId);
  expect((again.json as { revokedAt: string }).revokedAt).toBe('2026-11-20T12:00:00.000Z');
  const { json } = await owner.ask('/audit');
  const entries = ConsoleAnswers['GET /audit']
    .parse(json)
    .filter(({ details }) => details['link'] === link.linkId)
    .map(({ action, actor, subject, outcome }) => [action, actor, subject, outcome]);
  const by = ['sign-in link', mine.app, 'done'];
  expect(entries.sort()).toEqual(
    [
      ['app.link', ...by],
      ['app.link-origins', ...by],
      ['app.unlink', ...by],
      ['app.unlink', ...by],
    ].sort(),
  );
  expect(JSON.stringify(json)).not.toContain('app_link_');
});

test('only owners of the app make, change and end links', async () => {
  const { linkId } = await made();
  const body = { name: 'X', origins: [] };
  const at = `/apps/${mine.app}/links`;
  const asks = [
    [at, { method: 'POST', body: { name: 'X' } }],
    [`${at}/${linkId}/origins`, { method: 'PUT', body: { origins: body.origins } }],
    [`${at}/${linkId}/revoke`, { method: 'POST' }],
  ] as const;
  for (const [path, ask] of asks) {
    expectProblem(await looker.ask(path, ask), 'forbidden');
    expectProblem(await stranger.ask(path, ask), 'not_found');
    expectProblem(
      await owner.ask(path, { ...ask, headers: { Origin: 'https://evil.example' } }),
      'forbidden',
    );
  }
  expectProblem(await stranger.ask(at), 'not_found');
  // By another app's path.
  const other = await owner.ask('/v1/apps', {
    method: 'POST',
    body: { name: 'Two', domain: `https://${randomUUID()}.example` },
  });
  const { id } = other.json as { id: AppId };
  expectProblem(await owner.ask(`/apps/${id}/links/${linkId}/revoke`, { method: 'POST' }), 'not_found');
  expectProblem(await revoke(randomUUID()), 'not_found');
  expect((await linksOf(owner)).find((each) => each.linkId === linkId)?.state).toBe('active');
});

test.each<[string, object]>([
  ['name', { name: '' }],
  ['segment', { segment: 'colour==red' }],
  ['segment', { segment: ';' }],
  ['segment', { segment: `page==/${'x'.repeat(4_096)}` }],
  ['expiresAt', { expiresAt: '2026-11-20T12:00:00Z' }],
  ['expiresAt', { expiresAt: 'soon' }],
  ['origins', { origins: Array.from({ length: 11 }, (_, i) => `https://a${i}.example`) }],
  ['token', { token: 'x' }],
])('a link with a wrong %s is refused: %j', async (field, body) => {
  const ask = { method: 'POST', body: { name: 'X', ...body } };
  const answer = await owner.ask(`/apps/${mine.app}/links`, ask);
  expect(expectInvalid(answer).map((error) => error.field)).toEqual([field]);
});

/** Each would say something else in a header or a policy. */
const NO_ORIGINS = [
  '*',
  'https://*',
  'https://*.example.com',
  "'self'",
  'self',
  'data:',
  'https:',
  'https://a.example; script-src *',
  "https://a.example 'unsafe-inline'",
  'https://a.example, https://b.example',
  'https://a.example\r\nSet-Cookie: x=1',
  'https://a.example\n',
  'https://a.example/path',
  'https://user@a.example',
  'https://a_b.example',
  'https://[::1]',
  'ftp://a.example',
  'javascript:alert(1)',
  'https://a.example%0d%0a',
  '',
];

test.each(NO_ORIGINS)('%j is no site for a frame', async (origin) => {
  const ask = { method: 'POST', body: { name: 'X', origins: [origin] } };
  const answer = await owner.ask(`/apps/${mine.app}/links`, ask);
  expect(expectInvalid(answer).map((error) => error.field)).toEqual(['origins.0']);
});

describe('a page of a link', () => {
  const policyAt = async (path: string): Promise<string> => {
    const { status, headers } = await send(service().url, path, {});
    expect(status, path).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['set-cookie']).toBeUndefined();
    return String(headers['content-security-policy']);
  };
  const NONE = "frame-ancestors 'none'";

  test('stands in frames of its sites alone, and only below /embed', async () => {
    const { linkId } = await made({ origins: ['https://a.example', 'https://xn--mnchen-3ya.example:8443'] });
    const embed = await policyAt(`/embed/${linkId}`);
    expect(embed).toMatch(/; frame-ancestors https:\/\/a\.example https:\/\/xn--mnchen-3ya\.example:8443$/);
    expect(embed).toContain("default-src 'none'; script-src 'self'");
    expect(await policyAt(`/shared/${linkId}`)).toContain(NONE);
    expect(await policyAt(`/embed/${(await made()).linkId}`)).toContain(NONE);
    expect(await policyAt(`/embed/${randomUUID()}`)).toContain(NONE);
    const dashboard = await send(service().url, '/dashboard', {});
    expect(dashboard.headers['content-security-policy']).toContain(NONE);
  });

  test('follows a change, and the end of the link', async () => {
    const { linkId } = await made({ origins: ['https://a.example'] });
    const first = await send(service().url, `/embed/${linkId}`, {});
    const path = `/apps/${mine.app}/links/${linkId}`;
    await owner.ask(`${path}/origins`, { method: 'PUT', body: { origins: ['https://b.example'] } });
    const headers = { 'If-None-Match': String(first.headers['etag']) };
    const second = await send(service().url, `/embed/${linkId}`, { headers });
    expect(second.status).toBe(200);
    expect(second.headers['content-security-policy']).toMatch(/frame-ancestors https:\/\/b\.example$/);
    await revoke(linkId);
    expect(await policyAt(`/embed/${linkId}`)).toContain(NONE);
  });

  test('has an address with an id, and takes no other method', async () => {
    for (const path of [
      '/shared',
      '/embed',
      '/embed/x',
      `/embed/${randomUUID()}/`,
      `/frames/${randomUUID()}`,
    ])
      expectProblem(await send(service().url, path, {}), 'not_found');
    const answer = await send(service().url, `/embed/${randomUUID()}`, { method: 'POST', body: {} });
    expectProblem(answer, 'method_not_allowed');
  });
});

describe('a link ends at once, also for open streams:', () => {
  const endOf = async (link: Created, end: () => Promise<unknown>, code: string): Promise<void> => {
    const path = `/shared/api${pathOf('listPageviews')}`.replace(mine.app, link.name);
    const stream = await openStream(service().url, path, { key: link.token });
    expect(JSON.parse((await stream.next())?.data ?? '')).toHaveLength(0);
    await end();
    const last = await stream.next();
    expect([last?.event, JSON.parse(last?.data ?? '').code]).toEqual(['end', code]);
    stream.close();
    expect((await open(link, '/link')).status).toBe(401);
  };
  /** The link's name is its app's id. */
  const own = async (body: object = {}) => {
    const tenant = await service().newTenant();
    const person = await signIn(service(), tenant.account);
    return { ...tenant, person, link: await made({ ...body, name: tenant.app }, tenant.app, person) };
  };

  test('revoked', async () => {
    const { link, person, app } = await own();
    const path = `/apps/${app}/links/${link.linkId}/revoke`;
    await endOf(link, () => person.ask(path, { method: 'POST' }), 'unauthorized');
  });

  test('with its app', async () => {
    const { link, app } = await own();
    await endOf(link, () => service().metadata.deleteApp(app), 'unauthorized');
  });

  test('with the account', async () => {
    const { link, account } = await own();
    await endOf(link, () => service().metadata.deleteAccount(account), 'unauthorized');
  });

  test('expired', async () => {
    const { link } = await own({ expiresAt: '2026-11-20T12:00:01Z' });
    expect((await open(link, '/link')).status).toBe(200);
    await endOf(link, async () => service().clock.advance(1_000), 'unauthorized');
  });
});

test('a suspended account shows nothing by links either', async () => {
  const tenant = await service().newTenant();
  const person = await signIn(service(), tenant.account);
  const link = await made({}, tenant.app, person);
  await service().metadata.setPlan(tenant.account, 'suspended');
  expectProblem(await open(link, pathOf('listPageviews', tenant.app)), 'plan_blocked');
});

test('an app has a hundred valid links at most', async () => {
  const tenant = await service().newTenant();
  const person = await signIn(service(), tenant.account);
  for (let i = 0; i < 100; i++) await made({}, tenant.app, person);
  const ask = { method: 'POST', body: { name: 'One more' } };
  expectProblem(await person.ask(`/apps/${tenant.app}/links`, ask), 'plan_blocked');
});
