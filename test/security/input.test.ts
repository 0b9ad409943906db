import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { type Endpoint, parametersOf } from '../../src/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/endpoints/index.ts';
import { signManagementToken } from '../../src/management/token.ts';
import { batchOf, INSIDE, type Running, running, SECRET, type Tenant } from '../faults/support.ts';
import { type Answer, expectProblem, send } from '../http/support.ts';
import { byChance } from '../support/chance.ts';
import { forAll } from '../support/random.ts';

let service: Running;
let tenant: Tenant;
/** The statuses that /openapi.json documents, per operation. */
let documented: ReadonlyMap<string, ReadonlySet<number>>;

beforeAll(async () => {
  service = await running({ TRUST_PROXY: '1' });
  tenant = await service.newTenant();
  await service.record(tenant.app, ['/']);
  const { paths } = (await service.ask('/openapi.json')).json as {
    paths: Record<string, Record<string, { operationId: string; responses: object }>>;
  };
  documented = new Map(
    Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(
        ({ operationId, responses }) => [operationId, new Set(Object.keys(responses).map(Number))] as const,
      ),
    ),
  );
});
afterAll(() => service?.remove());

/** Texts with a meaning for some part of the service. */
const NASTY = [
  "'",
  '"',
  '\\',
  "\\'",
  "' OR 1=1 --",
  "'); DROP TABLE events; --",
  '{app:UUID}',
  '{from:Int64}',
  '{{7*7}}',
  '`id`',
  '$(id)',
  '../../etc/passwd',
  '%00',
  '%s%n',
  '\u0000',
  '\r\nX-Injected: 1',
  '\u202e',
  '\ud800',
  '\ufeff',
  '٣',
  'é'.normalize('NFD'),
  '__proto__',
  'constructor',
  'NaN',
  'Infinity',
  '-0',
  '1e309',
  '0x10',
  '9007199254740993',
  '\\N',
  '[1]',
  '<script>alert(1)</script>',
  '=cmd()',
  'x'.repeat(3_000),
];
const anyText = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary' }), fc.string());
const anyTime = fc.oneof(
  fc.date({ noInvalidDate: false }).map((date) => (Number.isNaN(date.getTime()) ? 'x' : date.toISOString())),
  fc.constantFrom(
    '1970-01-01T00:00:00Z',
    '2299-12-31T23:59:59.999999Z',
    '2026-11-20T10:00+23:59',
    '0000-01-01T00:00Z',
  ),
  anyText,
);
const anyJson = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(anyText, fc.jsonValue()),
  anyText,
  fc.constantFrom(null, 0, -1, 1e308, true),
);

/** Expects a documented status and the body of that status. */
function expectDocumented(
  answer: Answer,
  statuses: ReadonlySet<number> | undefined,
  response?: Endpoint['response'],
): void {
  expect([...(statuses ?? [])]).toContain(answer.status);
  expect(answer.status).not.toBe(500);
  if (answer.status >= 400) {
    expectProblem(answer, (answer.json as { code: 'internal' }).code);
    expect(answer.text).not.toMatch(INSIDE);
  } else response?.parse(answer.json);
  expect(answer.headers['x-injected']).toBeUndefined();
}

/**
 * Runs a fuzz test. Each run asks from another address, so wrong credentials do not add up. A failing value
 * is not shrunk, because that takes minutes.
 */
const fuzz = <T>(
  arbitrary: fc.Arbitrary<T>,
  runs: number,
  work: (value: T) => Promise<void>,
): Promise<void> => forAll(arbitrary, work, { runs, shrinks: false });

const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

describe.each(
  ENDPOINTS.filter(({ method }) => method === 'get').map(
    (endpoint) => [endpoint.operationId, endpoint] as const,
  ),
)('%s', (operationId, endpoint) => {
  test('any query', async () => {
    const names = fc.constantFrom(
      'appId',
      'from',
      'to',
      'limit',
      ...Object.keys(parametersOf(endpoint.query).shape),
    );
    const pair = fc.oneof(
      fc.tuple(names, anyTime),
      fc.tuple(names, fc.nat().map(String)),
      fc.tuple(fc.oneof(names, anyText), anyText),
    );
    const isAboutApp = 'appId' in parametersOf(endpoint.query).shape;
    const query = fc.tuple(
      fc.boolean(),
      fc.array(pair, { maxLength: 4 }),
      fc.constantFrom('', '&', '%', '%zz', '&&=', '+'),
    );
    await fuzz(query, 40, async ([withApp, pairs, tail]) => {
      const own = isAboutApp && withApp ? [`appId=${tenant.app.id}`] : [];
      const search =
        [...own, ...pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`)].join('&') + tail;
      const answer = await service.ask(`${endpoint.path}?${search}`, { key: tenant.key });
      expectDocumented(answer, documented.get(operationId), endpoint.response);
    });
  });
});

test('createApp: any body; accepted values are returned unchanged', async () => {
  const { response } = ENDPOINTS.find(({ operationId }) => operationId === 'createApp') as Endpoint;
  const body = fc.oneof(
    anyJson,
    fc.record({ name: fc.oneof(anyText, anyJson), domain: fc.oneof(fc.webUrl(), anyText, anyJson) }),
    fc.record({ name: anyText, domain: fc.uuid().map((id) => `https://${id}.example`) }),
  );
  await fuzz(body, 120, async (value) => {
    const answer = await service.ask('/api/v1/apps', {
      method: 'POST',
      key: tenant.key,
      body: JSON.stringify(value),
    });
    expectDocumented(answer, documented.get('createApp'), response);
    if (answer.status !== 201) return;
    const { name } = value as { name: string };
    expect(answer.json).toMatchObject({ name: name.trim() });
  });
});

test('the SDK endpoint: any batch', async () => {
  const event = fc.oneof(
    anyJson,
    fc.record(
      {
        type: fc.oneof(fc.constantFrom('pageview', 'click', 'error', 'engagement', 'custom'), anyText),
        timestamp: fc.oneof(fc.constant(new Date().toISOString()), anyTime, anyJson),
        path: fc.oneof(
          anyText.map((text) => `/${text}`),
          anyJson,
        ),
        target: anyJson,
        message: anyJson,
        name: anyJson,
        durationMs: fc.oneof(fc.double(), fc.nat(), anyJson),
      },
      { requiredKeys: ['type', 'timestamp', 'path'] },
    ),
  );
  const session = fc.oneof(
    anyJson,
    fc.record(
      {
        id: fc.oneof(fc.uuid(), anyJson),
        visitorId: fc.oneof(fc.uuid(), anyJson),
        startedAt: fc.oneof(fc.constant(new Date().toISOString()), anyTime),
        context: fc.oneof(
          anyJson,
          fc.record({
            referrer: anyText,
            utm: anyJson,
            location: anyJson,
            userAgent: anyText,
            language: anyText,
            screen: anyText,
          }),
        ),
        events: fc.oneof(anyJson, fc.array(event, { maxLength: 4 })),
      },
      { requiredKeys: ['id', 'startedAt', 'events'] },
    ),
  );
  const batch = fc.record(
    {
      batchId: fc.oneof(fc.uuid(), anyText),
      sessions: fc.oneof(anyJson, fc.array(session, { maxLength: 3 })),
      sentAt: anyJson,
    },
    { requiredKeys: ['batchId', 'sessions'] },
  );
  await fuzz(batch, 120, async (value) => {
    const { id: appId, secretKey } = tenant.app;
    const body = JSON.stringify({ ...value, appId, secretKey });
    const answer = await service.ask('/sdk/v1/events', { method: 'POST', body });
    expectDocumented(answer, new Set([200, 400]));
    if (answer.status !== 200) return;
    const { accepted, rejected } = answer.json as { accepted: number; rejected: { code: string }[] };
    expect(accepted).toBeGreaterThanOrEqual(0);
    for (const { code } of rejected) expect(code).toMatch(/^[a-z_]+$/);
  });
  await fuzz(anyJson, 60, async (value) => {
    const answer = await service.ask('/sdk/v1/events', {
      method: 'POST',
      body: JSON.stringify(value),
      headers: { 'X-Forwarded-For': `10.1.${byChance(250)}.1` },
    });
    expectDocumented(answer, new Set([400, 401]));
  });
});

test('the management API: any path and body', async () => {
  const path = fc.constantFrom(
    '/accounts',
    '/accounts/ID/plan',
    '/accounts/ID/keys',
    '/keys/ID/rotate',
    '/apps/ID/rotate-secret',
    '/apps/ID/shares/ID',
    '/apps/ID/import',
    '/seal/rebuild',
  );
  const id = fc.oneof(fc.uuid(), anyText);
  await fuzz(
    fc.tuple(path, id, fc.constantFrom('GET', 'POST', 'PUT'), anyJson),
    150,
    async ([template, text, method, value]) => {
      const target = `/management/v1${template.replaceAll('ID', encoded(text) || 'x')}`;
      const key = await signManagementToken(SECRET, () => epochMs(Date.now()));
      const body = method === 'GET' ? {} : { body: JSON.stringify(value) };
      const answer = await send(service.managementUrl, target, { method, key, ...body });
      expectDocumented(answer, new Set([200, 201, 202, 400, 404, 405, 413]));
    },
  );
});

test('texts with a meaning for a store come back unchanged', async () => {
  const app = await service.newApp(tenant.key);
  const texts = NASTY.filter((text) => text.length < 1_000 && !/[\p{Cc}?#]|\ud800/u.test(text));
  const at = new Date().toISOString();
  const events = texts.flatMap((text) => [
    { type: 'pageview', timestamp: at, path: `/${text}` },
    // Alone, some of them are blank.
    { type: 'error', timestamp: at, path: '/', message: `a${text}z` },
  ]);
  const sessions = [
    {
      id: 's',
      visitorId: 'v',
      startedAt: at,
      context: { utm: { source: NASTY[5], campaign: NASTY[6] } },
      events,
    },
  ];
  const batch = { appId: app.id, secretKey: app.secretKey, batchId: randomUUID(), sessions };
  const stored = await service.ask('/sdk/v1/events', { method: 'POST', body: batch });
  expect(stored.json).toMatchObject({ accepted: events.length, rejected: [] });
  const pages = (await service.ask(`/api/v1/sessions/pageviews?appId=${app.id}`, { key: tenant.key })).json;
  expect((pages as { path: string }[]).map(({ path }) => path).sort()).toEqual(
    texts.map((text) => `/${text}`).sort(),
  );
  const [utm] = (await service.ask(`/api/v1/growth/utm?appId=${app.id}`, { key: tenant.key }))
    .json as object[];
  expect(utm).toMatchObject({ source: NASTY[5], campaign: NASTY[6] });
  // All data is still there.
  expect(
    (await service.ask(`/api/v1/sessions/pageviews?appId=${tenant.app.id}`, { key: tenant.key })).status,
  ).toBe(200);
});

test('JSON that is deep, huge, polluting, broken or in no UTF-8', async () => {
  const post = (path: string, body: string): Promise<Answer> =>
    service.ask(path, { method: 'POST', key: tenant.key, body });
  for (const path of ['/api/v1/apps', '/sdk/v1/events']) {
    const limit = path === '/sdk/v1/events' ? 1_000_000 : 100_000;
    for (const text of [
      '['.repeat(limit),
      '['.repeat(limit / 2) + ']'.repeat(limit / 2),
      `${'{"a":'.repeat(limit / 8)}1${'}'.repeat(limit / 8)}`,
      `{"name":"${'x'.repeat(limit / 2)}","domain":"https://x.example"}`,
      `[${'1,'.repeat(limit / 4)}1]`,
      `{${Array.from({ length: 2_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
      '{"name":1e999}',
      '{"name":"a","name":"b"}',
      '',
      '\ufeff{}',
      'undefined',
      '{"a":1}{"b":2}',
    ]) {
      expectProblem(await post(path, text), 'validation_failed');
    }
    const tooLarge = await post(path, `{"name":"${'x'.repeat(limit * 1.1)}"}`);
    expectProblem(tooLarge, 'payload_too_large');
  }
  const levels = (count: number): string => `${'['.repeat(count)}1${']'.repeat(count)}`;
  for (const [count, message] of [
    [64, 'Must be of type object.'],
    [65, 'Nested in more than 64 levels.'],
  ] as const) {
    const { json } = await post('/api/v1/apps', levels(count));
    expect(json).toMatchObject({ errors: [{ field: 'body', message }] });
  }
  for (const key of ['__proto__', 'constructor', 'prototype', 'toString']) {
    const body = `{"name":"A","domain":"https://p.example","${key}":{"polluted":true,"plan":"pro"}}`;
    expectProblem(await post('/api/v1/apps', body), 'validation_failed');
    expectProblem(await service.ask(`/api/v1/apps?${key}=1`, { key: tenant.key }), 'validation_failed');
    const batch = JSON.stringify(batchOf(tenant.app, ['/polluted'])).replace(
      '"sessions":[{',
      `"${key}":{"a":1},"sessions":[{"${key}":{"context":{"language":"xx"}},`,
    );
    expect((await post('/sdk/v1/events', batch)).status).toBe(200);
  }
  expect((await service.ask('/healthz')).json).toEqual({ status: 'ok' });
  const broken = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]);
  for (const path of ['/api/v1/apps', '/sdk/v1/events']) {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      body: broken,
      headers: { Authorization: `Bearer ${tenant.key}`, 'Content-Type': 'application/json' },
    });
    expect(answer.status).toBe(400);
  }
});

test('floods of parameters, of headers and of path', async () => {
  const many = Array.from({ length: 1_500 }, (_, i) => `p${i}=`).join('&');
  const answer = await service.ask(`/api/v1/apps?${many}`, { key: tenant.key });
  expectProblem(answer, answer.status === 414 ? 'uri_too_long' : 'validation_failed');
  for (const path of [
    `/${'a/'.repeat(3_000)}`,
    `/${'%2e%2e/'.repeat(500)}etc/passwd`,
    '/api/v1/../../x',
    '//api/v1/apps',
    '/api/v1/apps%2f',
    '/%',
  ]) {
    const { status } = await service.ask(path, { key: tenant.key });
    expect([400, 404]).toContain(status);
  }
  const headers = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`x-h${i}`, 'v']));
  expect((await service.ask('/api/v1/apps', { key: tenant.key, headers })).status).toBe(200);
});
