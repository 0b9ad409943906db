import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sql } from '../../src/clickhouse/sql.ts';
import { type LinkId, linkId } from '../../src/domain/ids.ts';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { ConsoleAnswers } from '../../src/http/console/schemas.ts';
import { newLinkToken } from '../../src/metadata/credentials.ts';
import type { CreatedLink } from '../../src/metadata/links.ts';
import { ABOUT_APP, parameters, withService } from '../http/operations.ts';
import { AT_NOON } from '../http/sample.ts';
import {
  type Answer,
  type Ask,
  endpointOf,
  expectInvalid,
  expectProblem,
  send,
  type Tenant,
} from '../http/support.ts';
import { questionPath } from '../support/questions.ts';

const service = withService({ ...AT_NOON, env: { TRUST_PROXY: '1' } });
let mine: Tenant;
let other: Tenant;
let whole: CreatedLink;
let narrow: CreatedLink;

const newLink = (tenant: Tenant, segment = ''): Promise<CreatedLink> =>
  service().metadata.createLink(tenant.app, { name: 'L', segment, origins: [], expiresAt: null });

/** One visit from each of two countries, with everything that a visit can have. */
const visit = (country: string) => ({
  id: `visit-${country}`,
  visitorId: `visitor-${country}`,
  startedAt: '2026-11-20T11:50:00.000Z',
  context: {
    referrer: `https://from-${country}.example/`,
    utm: { source: `source-${country}`, medium: `medium-${country}`, campaign: `campaign-${country}` },
    language: 'en',
    location: { country, region: `region-${country}`, city: `city-${country}`, latitude: 35, longitude: 51 },
  },
  events: [
    { type: 'pageview', timestamp: '2026-11-20T11:50:00.000Z', path: `/page-${country}` },
    {
      type: 'click',
      timestamp: '2026-11-20T11:50:01.000Z',
      path: `/page-${country}`,
      target: `target-${country}`,
    },
    {
      type: 'engagement',
      timestamp: '2026-11-20T11:50:02.000Z',
      path: `/page-${country}`,
      durationMs: 5_000,
    },
    {
      type: 'error',
      timestamp: '2026-11-20T11:50:03.000Z',
      path: `/page-${country}`,
      message: `error-${country}`,
    },
    {
      type: 'custom',
      timestamp: '2026-11-20T11:50:04.000Z',
      path: `/page-${country}`,
      name: `event-${country}`,
    },
  ],
});

beforeAll(async () => {
  mine = await service().newTenant();
  other = await service().newTenant();
  await service().record([visit('IR'), visit('DE')] as never, mine.app);
  await service().record([visit('FR')] as never, other.app);
  whole = await newLink(mine);
  narrow = await newLink(mine, 'country==IR');
});

let addresses = 0;
/** Gives each request its own address, so that wrong credentials do not add up. */
const elsewhere = (): Record<string, string> => ({ 'X-Forwarded-For': `10.0.0.${addresses++ % 250}` });

const ask = (key: string | null, path: string, more: Ask = {}): Promise<Answer> =>
  send(service().url, path, { key, ...more, headers: { ...elsewhere(), ...more.headers } });

const RANGE = '&from=2026-11-19T00:00:00Z&to=2026-11-20T23:59:59.999Z';
const rangeOf = (operationId: string): string => ('from' in parameters(operationId) ? RANGE : '');
const pathOf = (operationId: string, app: string): string =>
  `/shared${questionPath(endpointOf(operationId), app)}${rangeOf(operationId)}`;
/** A refusal without the parts that differ by request. */
const bodyOf = (answer: Answer): string => JSON.stringify({ ...(answer.json as object), requestId: '' });

const OTHERS = ['DE', 'FR'];
const TRACES = OTHERS.flatMap((each) => [`page-${each}`, `from-${each}`, `-${each}`, `"${each}"`]);

const isNarrowed = (operationId: string): boolean => 'segment' in parameters(operationId);

describe.each(ABOUT_APP)('%s by a link', (operationId) => {
  test('answers about its app alone; any other is one refusal, as for a stranger', async () => {
    expect((await ask(whole.token, pathOf(operationId, mine.app))).status).toBe(200);
    const refused = await Promise.all(
      [other.app, randomUUID(), mine.account, whole.linkId].map((app) =>
        ask(whole.token, pathOf(operationId, app)),
      ),
    );
    for (const answer of refused) expectProblem(answer, 'app_access_denied');
    const byKey = await other.ask(pathOf(operationId, mine.app).replace('/shared', ''));
    expect(new Set([...refused, byKey].map(bodyOf)).size).toBe(1);
  });

  test('has a tag that gives no access to anybody else, and streams only what it may show', async () => {
    const path = pathOf(operationId, mine.app);
    const answer = await ask(whole.token, path);
    const headers = { 'If-None-Match': answer.headers['etag'] ?? '' };
    expect((await ask(whole.token, path, { headers })).status).toBe(304);
    expectProblem(await ask(null, path, { headers }), 'unauthorized');
    expectProblem(await ask(whole.token, pathOf(operationId, other.app), { headers }), 'app_access_denied');
    // The narrowed answer is another one, if there is any.
    const narrowed = await ask(narrow.token, path, { headers });
    expect(narrowed.status).toBe(isNarrowed(operationId) ? 200 : 404);
    const stream = await ask(narrow.token, pathOf(operationId, other.app), {
      headers: { Accept: 'text/event-stream' },
    });
    expectProblem(stream, isNarrowed(operationId) ? 'app_access_denied' : 'not_found');
  });
});

test.each(ABOUT_APP.filter(isNarrowed))(
  '%s by a link with a segment shows no trace of other sessions',
  async (operationId) => {
    const wider = [
      '',
      'country==DE',
      'country==IR,country==DE',
      'country!=IR',
      'page==/page-DE',
      'country=^',
    ];
    for (const segment of wider) {
      const added = segment === '' ? '' : `&segment=${encodeURIComponent(segment)}`;
      const answer = await ask(narrow.token, `${pathOf(operationId, mine.app)}${added}`);
      if (segment === 'country=^') expectInvalid(answer);
      else expect(answer.status, answer.text).toBe(200);
      for (const trace of TRACES) expect(answer.text).not.toContain(trace);
    }
    // Nor can the segment be sent twice, emptied, or hidden behind an encoding.
    for (const wrong of [
      '&segment=',
      '&segment=country==DE&segment=country==IR',
      '&segment=%3B',
      '&segment=%ff',
    ])
      expectInvalid(await ask(narrow.token, `${pathOf(operationId, mine.app)}${wrong}`));
  },
);

test('what cannot be narrowed is not there for a link with a segment', async () => {
  const others = ABOUT_APP.filter((operationId) => !isNarrowed(operationId));
  expect(others).toEqual(['getDataBounds']);
  for (const operationId of others)
    expectProblem(await ask(narrow.token, pathOf(operationId, mine.app)), 'not_found');
});

test('bounds that would be those of other sessions must be given', async () => {
  for (const [operationId, bounds] of [
    ['getSeries', ['from', 'to']],
    ['listUserGrowth', ['from', 'to']],
  ] as const) {
    const path = pathOf(operationId, mine.app).replace(RANGE, '');
    const fields = expectInvalid(await ask(narrow.token, path)).map(({ field }) => field);
    expect(fields).toEqual(bounds);
    expect((await ask(whole.token, path)).status).toBe(200);
  }
});

describe('with the token of a link', () => {
  test('no other route of the Public API is there', async () => {
    for (const { path, method } of ENDPOINTS.filter(({ operationId }) => !ABOUT_APP.includes(operationId))) {
      const more: Ask =
        method === 'post' ? { method: 'POST', body: { name: 'X', domain: 'https://x.example' } } : {};
      expectProblem(await ask(whole.token, `/shared${path}`, more), 'not_found');
    }
    expectProblem(await ask(whole.token, '/shared/api/v1/apps'), 'not_found');
    expectProblem(
      await ask(whole.token, pathOf('listPageviews', mine.app), { method: 'POST', body: {} }),
      'method_not_allowed',
    );
    expect((await mine.ask('/api/v1/apps')).text).not.toContain('"X"');
  });

  test('the Public API itself, the console and the SDK refuse it', async () => {
    for (const { path, method } of ENDPOINTS)
      expectProblem(await ask(whole.token, path, { method: method.toUpperCase() }), 'unauthorized');
    for (const { path } of ENDPOINTS)
      expectProblem(await ask(whole.token, `/dashboard${path}?appId=${mine.app}`), 'unauthorized');
    const batch = { appId: mine.app, secretKey: whole.token, batchId: randomUUID(), sessions: [] };
    expectProblem(await ask(null, '/sdk/v1/events', { method: 'POST', body: batch }), 'unauthorized');
  });

  test.each(Object.keys(ConsoleAnswers))('%s of the console is refused', async (route) => {
    const [method = '', pattern = ''] = route.split(' ');
    const path = pattern
      .replace(':appId', mine.app)
      .replace(':linkId', whole.linkId)
      .replace(/:\w+/, () => randomUUID());
    const isChange = method !== 'GET';
    for (const base of ['/dashboard/api', '/shared/api']) {
      const headers = { Origin: service().url, Cookie: `analytics_session=${whole.token}` };
      const answer = await ask(whole.token, `${base}${path}`, {
        method,
        headers,
        ...(isChange ? { body: { token: whole.token } } : {}),
      });
      if (base === '/shared/api') expectProblem(answer, 'not_found');
      else if (route !== 'GET /sign-in') expectProblem(answer, 'unauthorized');
    }
    expect(await service().metadata.links.list(mine.app)).toHaveLength(2);
  });

  test('the management listener refuses it', async () => {
    for (const path of ['/accounts', `/apps/${mine.app}/shares`, `/accounts/${mine.account}/keys`, '/audit'])
      expectProblem(
        await send(service().managementUrl, `/management/v1${path}`, { key: whole.token }),
        'unauthorized',
      );
  });
});

describe('every wrong token', () => {
  const forged = (id: LinkId): string => newLinkToken(id);
  const flipped = (text: string, at: number): string =>
    `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;

  test('gets one body: malformed, unknown, forged, of another link, revoked, of a deleted app', async () => {
    const revoked = await newLink(mine, 'country==IR');
    await service().metadata.revokeLink(mine.app, revoked.linkId);
    const tenant = await service().newTenant();
    const deleted = await newLink(tenant);
    await service().metadata.deleteApp(tenant.app);
    const tokens = [
      'x',
      mine.key,
      mine.secretKey,
      whole.linkId,
      forged(linkId(randomUUID())),
      // The right id with another secret.
      forged(whole.linkId),
      // A link's secret under the id of another.
      `${narrow.token.slice(0, 9)}${whole.token.slice(9, 41)}${narrow.token.slice(41)}`,
      flipped(whole.token, 60),
      whole.token.toUpperCase(),
      `${whole.token}0`,
      whole.token.slice(0, -1),
      revoked.token,
      deleted.token,
    ];
    const bodies = new Set<string>();
    for (const token of tokens) {
      for (const path of ['/shared/api/link', pathOf('listPageviews', mine.app)]) {
        const answer = await ask(token, path);
        expectProblem(answer, 'unauthorized');
        bodies.add(bodyOf(answer));
      }
    }
    bodies.add(bodyOf(await ask(null, '/shared/api/link')));
    expect(bodies.size).toBe(1);
  });

  test('counts as a wrong credential of its address; a right one still works', async () => {
    const from = { 'X-Forwarded-For': '192.0.2.9' };
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        ask(forged(linkId(randomUUID())), '/shared/api/link', { headers: from }),
      ),
    );
    expect(
      answers.filter(({ json }) => (json as { code: string }).code === 'too_many_invalid_attempts').length,
    ).toBe(10);
    expect((await ask(whole.token, '/shared/api/link', { headers: from })).status).toBe(200);
  });
});

test('a link has a window of its own, for all who opened it', async () => {
  const link = await newLink(mine);
  const left = async (answer: Promise<Answer>) => Number((await answer).headers['x-ratelimit-remaining']);
  const first = await left(ask(link.token, '/shared/api/link'));
  expect(await left(ask(link.token, pathOf('listPageviews', mine.app)))).toBe(first - 1);
  expect(await left(ask(whole.token, '/shared/api/link'))).not.toBe(first - 2);
  const byKey = await mine.ask('/api/v1/apps');
  expect(byKey.headers['x-ratelimit-limit']).toBe('120');
});

test('the store holds a hash alone', async () => {
  const found = await service().db.query({
    name: 'all links',
    sql: sql`SELECT toString(tuple(*)) AS text FROM app_links`,
    row: z.object({ text: z.string() }),
  });
  expect(found.length).toBeGreaterThan(1);
  for (const { text } of found)
    for (const { token } of [whole, narrow]) expect(text).not.toContain(token.slice(41));
});
