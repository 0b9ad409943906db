import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import { sql } from '../../src/clickhouse/sql.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { type CollectedSpan, type Collector, collector } from '../support/collector.ts';
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { askRightly } from './operations.ts';
import { batchFor, post, visit } from './sdk-events/support.ts';
import { expectProblem, type TestService, testService } from './support.ts';

const { cache } = createRequire(import.meta.url);
const loaded = () => Object.keys(cache).filter((path) => path.includes('/@opentelemetry/sdk-trace'));

/** A trace of a caller, as W3C Trace Context writes it. */
function trace() {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
}

/** Runs a service until its spans are sent, which its end does. */
async function tracedService<T>(
  env: Readonly<Record<string, string>>,
  run: (service: TestService) => Promise<T>,
): Promise<{
  readonly result: T;
  readonly spans: readonly CollectedSpan[];
  readonly resource: Collector['resource'];
}> {
  const { url, spans, resource, close } = await collector();
  const service = await testService({ env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/` } });
  let result: T;
  try {
    result = await run(service);
  } finally {
    await service.close();
    await close();
  }
  return { result, spans, resource };
}

const one = (spans: readonly CollectedSpan[], traceId: string, name: string): CollectedSpan => {
  const found = spans.filter((span) => span.traceId === traceId && span.name === name);
  expect(found, name).toHaveLength(1);
  return found[0] as CollectedSpan;
};
const childrenOf = (spans: readonly CollectedSpan[], { spanId }: CollectedSpan) =>
  spans.filter(({ parentSpanId }) => parentSpanId === spanId);

test('nothing of OpenTelemetry is loaded when it is off', async () => {
  const service = await testService();
  expect((await askRightly(service, 'listPageviews', { headers: trace().headers })).status).toBe(200);
  await service.close();
  expect(loaded()).toEqual([]);
});

describe('a trace', () => {
  test('goes from the caller to the request, the question and its statements', async () => {
    const { traceId, spanId, headers } = trace();
    const { result, spans, resource } = await tracedService({}, async (service) => {
      const answer = await askRightly(service, 'listPageviews', { headers });
      const again = await askRightly(service, 'listPageviews', {
        headers: { 'If-None-Match': answer.headers['etag'] ?? '' },
      });
      expect([answer.status, again.status]).toEqual([200, 304]);
      const line = () =>
        service
          .logged()
          .find(({ msg, traceId: logged }) => /^(slow )?request$/.test(String(msg)) && logged === traceId);
      // It is written when the answer has been sent.
      await expect.poll(line).toBeDefined();
      return { answer, service, line: line() };
    });
    expect(loaded()).not.toEqual([]);
    expect(resource).toMatchObject({
      'service.name': 'session-analytics',
      'service.version': manifest.version,
    });
    const path = '/api/v1/sessions/pageviews';
    const request = one(spans, traceId, `GET ${path}`);
    expect(request).toMatchObject({
      parentSpanId: spanId,
      kind: 2,
      status: 0,
      attributes: {
        'http.request.method': 'GET',
        'http.route': path,
        'http.response.status_code': 200,
        'client.address': '127.0.0.1',
        'analytics.request_id': result.answer.headers['x-request-id'],
        'analytics.app_id': result.service.app,
        'analytics.account_id': result.service.account,
      },
    });
    // The log leads to the trace.
    expect(result.line).toMatchObject({ requestId: result.answer.headers['x-request-id'] });
    const question = one(spans, traceId, 'question listPageviews');
    expect(question.parentSpanId).toBe(request.spanId);
    const statements = childrenOf(spans, question);
    expect(statements.length).toBeGreaterThan(0);
    for (const { kind, attributes } of statements) {
      expect(kind).toBe(3);
      expect(attributes).toMatchObject({
        'db.system.name': 'clickhouse',
        'analytics.query_id': expect.any(String),
        // With other writers on the store, the version of the data is looked up.
        'analytics.lane': expect.stringMatching(/^(read|lookup)$/),
        'analytics.queue_ms': expect.anything(),
      });
    }
    // The 304 began a trace of its own and asked no question.
    const unchanged = spans.find(
      ({ attributes }) => String(attributes['http.response.status_code']) === '304',
    );
    expect(unchanged).toMatchObject({ parentSpanId: '', name: `GET ${path}` });
    expect(
      spans.filter((span) => span.traceId === unchanged?.traceId && /^question/.test(span.name)),
    ).toEqual([]);
  });

  test('goes from a batch to its flush and its inserts, and other batches of the flush are linked', async () => {
    const traces = Array.from({ length: 6 }, trace);
    const { spans } = await tracedService({}, async (service) => {
      const sends = traces.map(({ headers }, i) =>
        post(service, batchFor(service, { sessions: [visit(`s${i}`)] }), headers),
      );
      for (const { status } of await Promise.all(sends)) expect(status).toBe(200);
    });
    const ofTraces = spans.filter(({ traceId }) => traces.some((each) => each.traceId === traceId));
    const batches = traces.map(({ traceId, spanId }) => {
      const request = one(spans, traceId, 'POST /sdk/v1/events');
      expect(request.parentSpanId).toBe(spanId);
      const batch = one(spans, traceId, 'batch');
      expect(batch.parentSpanId).toBe(request.spanId);
      return batch;
    });
    const flushes = ofTraces.filter(({ name }) => name === 'flush');
    expect(flushes.length).toBeGreaterThan(0);
    for (const flush of flushes) {
      const names = childrenOf(spans, flush).map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining(['insert ingest_journal', 'insert events', 'insert ledger']),
      );
      expect(Number(flush.attributes['analytics.batches'])).toBe(1 + flush.links.length);
    }
    for (const batch of batches) {
      const mine = flushes.filter(
        ({ parentSpanId, links }) => parentSpanId === batch.spanId || links.includes(batch.spanId),
      );
      expect(mine).toHaveLength(1);
      const [flush] = mine;
      if (flush?.parentSpanId !== batch.spanId) expect(batch.links).toContain(flush?.spanId);
    }
  });
});

describe('on a server', () => {
  let bridge: BridgeProcess;
  let proxy: FaultProxy;
  beforeAll(async () => {
    bridge = await bridgeProcess();
    proxy = await faultProxy(bridge.url);
  });
  afterAll(async () => {
    await proxy.close();
    await bridge.close();
  });
  const env = () => ({
    ...bridge.settings,
    CLICKHOUSE_URL: proxy.url,
    MANAGEMENT_JWT_SECRET: 'a secret of at least 32 characters',
  });

  test("statements carry the trace, and the query's id and name in log_comment; a failure is marked", async () => {
    const [good, bad] = [trace(), trace()];
    const { spans, result } = await tracedService(env(), async (service) => {
      const answer = await askRightly(service, 'listPageviews', { headers: good.headers });
      expect(answer.status).toBe(200);
      const sent = [...proxy.requests];
      await proxy.set('reset', /FROM events/);
      expectProblem(
        await askRightly(service, 'listTimeSpent', { headers: bad.headers }),
        'store_unavailable',
      );
      await proxy.set('pass');
      return { sent, requestId: answer.headers['x-request-id'] };
    });
    const question = one(spans, good.traceId, 'question listPageviews');
    for (const { spanId, name, attributes } of childrenOf(spans, question)) {
      const request = result.sent.find((text) =>
        text.includes(`traceparent: 00-${good.traceId}-${spanId}-01`),
      );
      const comment = { id: attributes['analytics.query_id'], name, requestId: result.requestId };
      expect(request).toContain(`log_comment = '${JSON.stringify(comment)}'`);
      expect(request).toContain(`query_id=${attributes['analytics.query_id']}`);
    }
    for (const table of ['apps', 'accounts']) {
      expect(
        result.sent.some((text) => text.includes(`"name":"insert ${table}"`)),
        table,
      ).toBe(true);
    }
    expect(one(spans, bad.traceId, 'question listTimeSpent')).toMatchObject({
      status: 2,
      attributes: { 'error.type': 'store_unavailable' },
    });
    expect(one(spans, bad.traceId, 'GET /api/v1/sessions/timespent').status).toBe(2);
  });
});

test('the embedded engine knows the comment of a statement too', async () => {
  const service = await testService();
  const { comment } = await service.db.queryOne({
    name: "it's",
    sql: sql`SELECT getSetting('log_comment') AS comment`,
    row: z.object({ comment: z.string() }),
  });
  expect(JSON.parse(comment)).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: "it's" });
  await service.close();
});

test('a collector that takes no traces: the service goes on, and the log says so once', async () => {
  let refused = 0;
  const server = createServer((req, res) => {
    refused++;
    req.resume();
    res.writeHead(400).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // OpenTelemetry's own setting: it sends every 10 ms.
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10');
  const { port } = server.address() as AddressInfo;
  const service = await testService({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } });
  await expect
    .poll(async () => {
      expect((await service.ask('/healthz')).status).toBe(200);
      return refused;
    })
    .toBeGreaterThan(2);
  await service.close();
  vi.unstubAllEnvs();
  await new Promise((resolve) => server.close(resolve));
  const complaints = service.logged().filter(({ msg }) => /takes? traces/.test(String(msg)));
  expect(complaints).toMatchObject([{ level: 'warn', err: { message: expect.any(String) } }]);
});
