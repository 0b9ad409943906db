import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { ENDPOINTS } from '../../../src/endpoints/index.ts';
import { localRedis } from '../../support/redis.ts';
import { type TestService, testService } from '../support.ts';

let redis: Awaited<ReturnType<typeof localRedis>>;
let service: TestService;

beforeAll(async () => {
  redis = await localRedis();
  service = await testService({ env: { REDIS_URL: redis.url } });
});
afterAll(async () => {
  await service.close();
  await redis.close();
});

async function answered(accept?: string): Promise<{ readonly type: string; readonly text: string }> {
  const headers = accept === undefined ? {} : { Accept: accept };
  const response = await fetch(`${service.managementUrl}/metrics`, { headers });
  expect(response.status).toBe(200);
  return { type: response.headers.get('content-type') ?? '', text: await response.text() };
}

/** The samples by name and labels, as a scraper reads them. */
async function scraped(): Promise<ReadonlyMap<string, number>> {
  const { type, text } = await answered();
  expect(type).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
  expect(text.endsWith('# EOF\n')).toBe(true);
  return samplesIn(text);
}

function samplesIn(text: string): ReadonlyMap<string, number> {
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => {
      const [, name = '', value] = /^([^\s{]+(?:\{[^}]*\})?) (\S+)/.exec(line) ?? [];
      return [name, Number(value)];
    }),
  );
}

/** The sum of all samples whose name begins so. */
const total = (samples: ReadonlyMap<string, number>, start: string): number =>
  [...samples].filter(([name]) => name.startsWith(start)).reduce((sum, [, value]) => sum + value, 0);

const path = '/api/v1/sessions/overview/kpis';

test('requests, answers, statements, ingestion, sealing and Redis are measured', async () => {
  const before = await scraped();
  const tenant = await service.newTenant();
  await service.record(
    [
      {
        id: randomUUID(),
        visitorId: 'v',
        startedAt: new Date().toISOString(),
        context: { userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
        events: [{ type: 'pageview', timestamp: new Date().toISOString(), path: '/' }],
      },
    ],
    tenant.app,
  );
  const first = await tenant.ask(`${path}?appId=${tenant.app}`);
  expect(first.status).toBe(200);
  const again = { headers: { 'If-None-Match': first.headers['etag'] ?? '' } };
  expect((await tenant.ask(`${path}?appId=${tenant.app}`, again)).status).toBe(304);
  expect((await tenant.ask(`${path}?appId=${tenant.app}`)).status).toBe(200);
  const after = await scraped();
  const grown = (start: string): number => total(after, start) - total(before, start);
  const request = 'analytics_http_request_duration_seconds_count';
  expect(grown(`${request}{route="${path}",status="200"}`)).toBe(2);
  expect(grown(`${request}{route="${path}",status="304"}`)).toBe(1);
  expect(grown('analytics_answers_total{source="computed"}')).toBe(1);
  expect(grown('analytics_answers_total{source="cached"}')).toBe(1);
  expect(grown('analytics_answers_total{source="unchanged"}')).toBe(1);
  expect(grown('analytics_store_statement_duration_seconds_count{name="insert events"')).toBeGreaterThan(0);
  expect(grown('analytics_store_queue_duration_seconds_count{lane="read"}')).toBeGreaterThan(0);
  expect(grown('analytics_ingestion_events_total')).toBe(1);
  expect(grown('analytics_ingestion_flush_events_count')).toBe(1);
  // One late answer, and Redis counts as away for a moment.
  await expect.poll(async () => (await scraped()).get('analytics_redis_up')).toBe(1);
  expect(after.get('analytics_sealing_lag_seconds{kind="page"}')).toBeGreaterThanOrEqual(0);
  expect(after.get('analytics_store_waiting{lane="read"}')).toBe(0);
  expect(after.get('analytics_process_threads')).toBeGreaterThan(1);
  const engine = after.get('analytics_engine_threads') ?? 0;
  expect(engine).toBeGreaterThan(0);
  expect(engine).toBeLessThan(after.get('analytics_process_threads') ?? 0);
  const [allocated = 0, resident = 0] = ['allocated', 'resident'].map((state) =>
    after.get(`analytics_engine_memory_bytes{state="${state}"}`),
  );
  expect(allocated).toBeGreaterThan(1_000_000);
  expect(resident).toBeGreaterThan(allocated);
  expect(resident).toBeLessThan(after.get('process_resident_memory_bytes') ?? 0);
  expect(after.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
});

test('sealing is measured by its stretches', async () => {
  const tenant = await service.newTenant();
  const hourAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const visit = (hours: number) => ({
    startedAt: hourAgo(hours),
    events: [{ type: 'pageview' as const, path: '/' }],
  });
  const name = 'analytics_sealing_stretch_duration_seconds';
  const before = await scraped();
  await service.record([visit(60), visit(80)], tenant.app);
  await service.sealer.run();
  const after = await scraped();
  for (const kind of ['page', 'session']) {
    const labels = `{kind="${kind}",work="new"}`;
    expect(after.get(`${name}_count${labels}`) ?? 0).toBeGreaterThan(
      before.get(`${name}_count${labels}`) ?? 0,
    );
    const events = `analytics_sealing_events_total${labels}`;
    expect((after.get(events) ?? 0) - (before.get(events) ?? 0)).toBe(2);
  }
});

test('requests that are counted without Redis are counted as such', async () => {
  await redis.kill();
  const tenant = await service.newTenant();
  expect((await tenant.ask(`${path}?appId=${tenant.app}`)).status).toBe(200);
  const samples = await scraped();
  expect(samples.get('analytics_rate_limit_fallbacks_total')).toBeGreaterThan(0);
  expect(samples.get('analytics_redis_up')).toBe(0);
  await redis.start();
});

test('labels take few values and name nobody', async () => {
  const tenant = await service.newTenant();
  for (const { path: known, method } of ENDPOINTS.filter((endpoint) => endpoint.method === 'get')) {
    await tenant.ask(`${known}?appId=${tenant.app}`, { method: method.toUpperCase() });
  }
  // The statements of a job that runs every minute.
  await service.metadata.writeKeyUses();
  const before = (await scraped()).size;
  for (let i = 0; i < 12; i++) {
    const other = await service.newTenant();
    await other.ask(`${path}?appId=${other.app}`);
    await service.ask(`/no/${randomUUID()}`);
    await service.ask(`${path}?appId=${randomUUID()}`);
  }
  const samples = await scraped();
  // New series are those of a status that a route had not answered before.
  expect(samples.size - before).toBeLessThan(60);
  const text = [...samples.keys()].join('\n');
  for (const secret of [tenant.app, tenant.account, tenant.key]) expect(text).not.toContain(secret);
});

test('the versions of the service and of Node', async () => {
  const labels = `version="${manifest.version}",node="${process.versions.node}"`;
  expect((await scraped()).get(`analytics_build_info{${labels}}`)).toBe(1);
});

describe('the format is the one that Accept asks for', () => {
  const PROMETHEUS =
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1';
  test.each([
    ['text/plain', 'text'],
    ['text/plain; version=0.0.4', 'text'],
    ['TEXT/PLAIN;version=0.0.4;charset=utf-8, */*;q=0.1', 'text'],
    ['text/*', 'text'],
    ['text/plain, application/openmetrics-text;q=0.9', 'text'],
    ['application/openmetrics-text;q=0, */*', 'text'],
    ['text/plain;version=0.0.4;q=1,*/*;q=0.1', 'text'],
    [PROMETHEUS, 'openmetrics'],
    ['application/openmetrics-text', 'openmetrics'],
    ['text/plain;q=0.5, application/openmetrics-text; version=1.0.0', 'openmetrics'],
    ['text/plain;q=0, */*', 'openmetrics'],
    ['*/*', 'openmetrics'],
    ['image/png', 'openmetrics'],
  ])('%s', async (accept, format) => {
    const { type, text } = await answered(accept);
    expect(type).toBe(
      format === 'text'
        ? 'text/plain; version=0.0.4; charset=utf-8'
        : 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    );
    expect(text.endsWith('# EOF\n')).toBe(format === 'openmetrics');
  });

  test('both hold the same metrics, also when they are asked for at once, and plain text has no exemplars', async () => {
    const [open, plain, again] = await Promise.all([
      answered('application/openmetrics-text'),
      answered('text/plain'),
      answered('application/openmetrics-text'),
    ]);
    // What is active in the process changes from one moment to the next.
    const names = (text: string) =>
      [...samplesIn(text).keys()].filter((name) => !name.startsWith('nodejs_active_')).sort();
    expect(names(plain.text)).toEqual(names(open.text));
    expect(again.text.split('\n').filter((line) => line.startsWith('#'))).toEqual(
      open.text.split('\n').filter((line) => line.startsWith('#')),
    );
    const lines = plain.text.split('\n');
    // Each line is a comment, or a sample of two words: its name with labels, and a number.
    const wrong = lines.filter(
      (line) => !/^$|^# (HELP|TYPE) |^[a-z_0-9]+(\{([a-z_]+="[^"]*",?)+\})? [-+.e\dNInfa]+$/.test(line),
    );
    expect(wrong).toEqual([]);
    expect(lines).toContain('# TYPE analytics_ingestion_events_total counter');
    expect(lines.filter((line) => / counter$/.test(line) && !/_total counter$/.test(line))).toEqual([]);
  });
});
