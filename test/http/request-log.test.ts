import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { askRightly } from './operations.ts';
import { batchFor, post, visit } from './sdk-events/support.ts';
import { type Answer, expectProblem, send, sendRaw, type TestService, testService } from './support.ts';

/** The log's line of an answer. It is written when the answer has been sent. */
async function lineOf(service: TestService, { headers }: Answer): Promise<Record<string, unknown>> {
  const find = () =>
    service
      .logged()
      .find(({ requestId, status }) => requestId === headers['x-request-id'] && status !== undefined);
  await expect.poll(find).toBeDefined();
  return { ...find() };
}

describe('a request', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await testService({ env: { TRUST_PROXY: '1', SLOW_REQUEST_MS: '3600000' } });
  });
  afterAll(() => service.close());
  const FROM = { 'X-Forwarded-For': '10.0.0.9, 198.51.100.7', 'User-Agent': 'reports/1.2' };

  test('is logged with its app, its bytes, the client and its user agent', async () => {
    const answer = await askRightly(service, 'listPageviews', { headers: FROM });
    const { bytes, ms, ...line } = await lineOf(service, answer);
    expect(line).toEqual({
      level: 'info',
      time: expect.any(String),
      msg: 'request',
      requestId: answer.headers['x-request-id'],
      method: 'GET',
      route: '/api/v1/sessions/pageviews',
      isStream: false,
      status: 200,
      accountId: service.account,
      keyId: expect.any(String),
      appId: service.app,
      // The last one, which the trusted proxy saw. The caller wrote the other one.
      address: '198.51.100.7',
      userAgent: 'reports/1.2',
    });
    expect(ms).toBeGreaterThan(0);
    expect(bytes).toBeGreaterThan(Buffer.byteLength(answer.text));
  });

  test('that is refused is logged with its route', async () => {
    const answer = await askRightly(service, 'listPageviews', { key: 'service_api_wrong', headers: FROM });
    expectProblem(answer, 'unauthorized');
    expect(await lineOf(service, answer)).toMatchObject({ route: '/api/v1/sessions/pageviews', status: 401 });
  });

  test('of an SDK names the app, once its credentials are right', async () => {
    const good = await post(service, batchFor(service, { sessions: [visit()] }), FROM);
    expect(await lineOf(service, good)).toMatchObject({
      appId: service.app,
      address: '198.51.100.7',
      level: 'info',
    });
    const bad = await post(service, batchFor(service, { secretKey: 'x' }), FROM);
    expectProblem(bad, 'unauthorized');
    expect(await lineOf(service, bad)).not.toHaveProperty('appId');
  });

  test('that is refused before its path is known names the client too', async () => {
    const answer = await sendRaw(
      service.url,
      `GET / HTTP/1.1\r\nX-Forwarded-For: 198.51.100.8\r\nUser-Agent: old\r\nConnection: close\r\n\r\n`,
    );
    expectProblem(answer, 'bad_request');
    expect(await lineOf(service, answer)).toMatchObject({
      msg: 'request refused',
      code: 'bad_request',
      address: '198.51.100.8',
      userAgent: 'old',
    });
    const broken = await sendRaw(service.url, 'no HTTP\r\n\r\n');
    expect(await lineOf(service, broken)).toMatchObject({ status: 400, address: '127.0.0.1' });
  });

  test('with a credential in its user agent does not reveal it', async () => {
    const answer = await service.ask('/healthz', {
      headers: { 'User-Agent': `x ${service.key} ${'k9'.repeat(20)} ${'y '.repeat(200)}` },
    });
    const { userAgent } = await lineOf(service, answer);
    expect(userAgent).toMatch(/^x \[hidden\] \[hidden\] (y )+y?$/);
    expect(String(userAgent).length).toBeLessThan(257);
  });

  test('at debug, each of its statements is logged', async () => {
    const answer = await askRightly(service, 'listLocations', { headers: FROM });
    const statements = service
      .logged()
      .filter(({ msg, requestId }) => msg === 'statement' && requestId === answer.headers['x-request-id']);
    expect(statements).not.toEqual([]);
    for (const statement of statements) {
      expect(statement).toMatchObject({ level: 'debug', name: expect.any(String), outcome: 'ok' });
    }
  });
});

describe('without trusted proxies', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await testService({ env: { SLOW_REQUEST_MS: '1' } });
  });
  afterAll(() => service.close());

  test('the address is that of the connection', async () => {
    const answer = await send(service.url, '/healthz', { headers: { 'X-Forwarded-For': '198.51.100.7' } });
    expect(await lineOf(service, answer)).toMatchObject({ address: '127.0.0.1' });
  });

  test('a slow request says in which step, and by which statement', async () => {
    // It computes for longer than the threshold of this test, which is a millisecond.
    const answer = await askRightly(service, 'getExtendedOverview');
    const line = await lineOf(service, answer);
    expect(line).toMatchObject({
      level: 'warn',
      msg: 'slow request',
      status: 200,
      step: expect.stringMatching(/^(auth|limit|plan|store|answer)$/),
      authMs: expect.any(Number),
      limitMs: expect.any(Number),
      planMs: expect.any(Number),
      storeMs: expect.any(Number),
      answerMs: expect.any(Number),
      statement: expect.any(String),
      lane: expect.stringMatching(/^(read|lookup)$/),
      state: 'ok',
      queueMs: expect.any(Number),
      statementMs: expect.any(Number),
    });
    expect(line['statements']).toBeGreaterThan(1);
  });

  test('callers who share one computation all say which statement was slow', async () => {
    // Without events there is nothing to read.
    await post(service, batchFor(service));
    const asks = Array.from({ length: 3 }, () =>
      askRightly(service, 'getExtendedOverview', { query: '&from=2020-01-01T00:00:00Z' }),
    );
    for (const answer of await Promise.all(asks)) {
      const { statement, statements } = await lineOf(service, answer);
      expect(statement).toEqual(expect.any(String));
      // Those of the computation, which one of them began.
      expect(statements).toBeGreaterThan(0);
    }
  });
});

describe('a store that hangs', () => {
  let bridge: BridgeProcess;
  let proxy: FaultProxy;
  let service: TestService;
  beforeAll(async () => {
    bridge = await bridgeProcess();
    proxy = await faultProxy(bridge.url);
    service = await testService({
      env: {
        ...bridge.settings,
        CLICKHOUSE_URL: proxy.url,
        MANAGEMENT_JWT_SECRET: 'a secret of at least 32 characters',
      },
    });
  });
  afterAll(async () => {
    await proxy.set('pass');
    await service.close();
    await proxy.close();
    await bridge.close();
  });

  test('a 503 names the statement that got no answer; a 500 is an error', async () => {
    await proxy.set('reset', /AS pings|page_|FROM events/);
    const away = await askRightly(service, 'listPageviews');
    expectProblem(away, 'store_unavailable');
    expect(await lineOf(service, away)).toMatchObject({
      level: 'warn',
      msg: 'request failed',
      code: 'store_unavailable',
      step: 'store',
      statement: expect.any(String),
      lane: 'read',
      state: 'failed',
      err: { message: expect.stringContaining('ECONNRESET') },
    });
    await proxy.set('http-500', /AS pings|page_|FROM events/);
    const broken = await askRightly(service, 'listPageviews', { query: '&limit=7' });
    expectProblem(broken, 'internal');
    expect(await lineOf(service, broken)).toMatchObject({ level: 'error', status: 500, state: 'failed' });
  });
});
