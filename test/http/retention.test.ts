import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { quoted, sql } from '../../src/clickhouse/sql.ts';
import { epochMs } from '../../src/domain/time.ts';
import { exported } from '../../src/transfer/export.ts';
import { expectProblem, type TestService, testService } from './support.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-11-20T12:00:00Z');
const FROM = '2026-10-05T10:30:00Z';
const TO = '2026-10-05T17:59:59.999Z';

let service: TestService;

const visits = (daysAgo: number, count: number) =>
  Array.from({ length: count }, (_, i) => {
    const startedAt = new Date(NOW - daysAgo * DAY + i * HOUR).toISOString();
    const pageview = { type: 'pageview' as const, path: '/' };
    return { startedAt, visitorId: 'v', events: [pageview, { ...pageview, path: `/${i % 3}` }] };
  });
const about = (question: string, query = ''): string =>
  `/api/v1/sessions/${question}?appId=${service.app}${query}`;
const range = (from = FROM, to = TO): string =>
  `&from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`;

/** As if the setting were made a day ago, by the store's clock. */
const settle = () =>
  service.db.command(
    'age',
    sql`ALTER TABLE app_retention UPDATE set_at = set_at - INTERVAL 1 DAY WHERE 1 SETTINGS mutations_sync = 1`,
  );

beforeAll(async () => {
  service = await testService({ now: new Date(NOW), env: { PUBLIC_API_REQUESTS_PER_MINUTE: '10000' } });
  await service.record([...visits(50, 12), ...visits(46, 12), ...visits(20, 12), ...visits(1, 3)]);
  await service.sealer.run();
});
afterAll(() => service.close());

/** Its period before begins in 1940. */
const LONG = range('2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z');
const longKpis = async () => {
  const { status, json } = await service.ask(about('overview/kpis', LONG));
  return { status, json };
};

test('a period before the first possible event is empty, and not expired', async () => {
  expect(await longKpis()).toMatchObject({
    status: 200,
    json: { current: { pageviews: 78 }, previous: { from: '1940-12-30T23:59:59.999Z', pageviews: 0 } },
  });
});

test('a setting deletes nothing within an hour, and can be taken back', async () => {
  const before = await service.ask(about('pageviews', range()));
  expect(before.status).toBe(200);
  expect(await service.metadata.setRetention(service.app, 30)).toMatchObject({ exactFrom: null });
  await service.sealer.run();
  expect((await service.ask(about('pageviews', range()))).headers['etag']).toBe(before.headers['etag']);
  await service.metadata.setRetention(service.app, null);
  await settle();
  await service.sealer.run();
  expect(await service.metadata.retentionOf(service.app)).toEqual({
    appId: service.app,
    days: null,
    exactFrom: null,
  });
});

test('what has expired is refused with bounds that answer, in the form of the request', async () => {
  const hours = about('pageviews', range('2026-10-05T10:00:00Z'));
  const sessions = about('locations/all', range());
  const kept = await Promise.all([hours, sessions].map((path) => service.ask(path)));
  const whole = await service.ask(about('overview/extended'));
  const long = await longKpis();
  const { headers } = await service.ask(about('pageviews', range()));

  await service.metadata.setRetention(service.app, 30);
  await settle();
  await service.sealer.run();
  expect(await service.metadata.retentionOf(service.app)).toMatchObject({
    exactFrom: '2026-10-20T00:00:00.000Z',
  });
  const left = await service.db.queryOne({
    name: 'left',
    sql: sql`SELECT toUnixTimestamp64Milli(min(timestamp)) AS oldest FROM events WHERE app_id = ${quoted(service.app)}`,
    row: z.object({ oldest: z.number() }),
  });
  expect(left.oldest).toBe(NOW - 20 * DAY);

  const metrics = await (await fetch(`${service.managementUrl}/metrics`)).text();
  expect(metrics).toContain('analytics_expired_events_total 48\n');

  // The same facts: not a byte changes.
  for (const [i, path] of [hours, sessions].entries())
    expect((await service.ask(path)).text).toBe(kept[i]?.text);
  expect((await service.ask(about('overview/extended'))).text).toBe(whole.text);
  expect(await longKpis()).toEqual(long);
  expect((await service.ask(about('data-bounds'))).json).toMatchObject({
    oldest: new Date(NOW - 50 * DAY).toISOString(),
  });

  const problem = expectProblem(await service.ask(about('pageviews', range())), 'beyond_retention');
  expect(problem.detail).toContain('2026-10-20T00:00:00.000Z');
  expect(problem.nearest).toEqual({ from: '2026-10-05T11:00:00.000Z', to: TO });
  // A tag of the time before is not confirmed.
  const conditional = { headers: { 'If-None-Match': String(headers['etag']) } };
  expectProblem(await service.ask(about('pageviews', range()), conditional), 'beyond_retention');

  const inTehran = range('2026-10-05T13:31:00.000+03:30', '2026-10-06T00:00:00.000+03:30');
  for (const question of ['pageviews', 'timespent', 'overview/extended', 'overview/kpis', 'user-growth']) {
    const refused = expectProblem(await service.ask(about(question, inTehran)), 'beyond_retention');
    expect(refused.nearest, question).toEqual({
      from: '2026-10-05T13:30:00.000+03:30',
      to: '2026-10-06T00:29:59.999+03:30',
    });
    const { from, to } = refused.nearest ?? {};
    const answered = await service.ask(about(question, range(from ?? '', to ?? '')));
    expect(answered.status, question).toBe(200);
  }
  const open = await service.ask(about('timespent', `&from=${FROM}`));
  expect(expectProblem(open, 'beyond_retention').nearest).toEqual({
    from: '2026-10-05T11:00:00.000Z',
    to: null,
  });
  // Both periods count: this one begins after the horizon, the one before it does not.
  const kpis = await service.ask(
    about('overview/kpis', range('2026-10-20T00:00:00.001Z', '2026-11-10T00:00:00Z')),
  );
  expectProblem(kpis, 'beyond_retention');
});

test('events from before the retention are refused by name, also after it was lifted', async () => {
  const refuse = async (daysAgo: number) => {
    const [{ startedAt, visitorId, events }] = visits(daysAgo, 1) as [ReturnType<typeof visits>[0]];
    const sent = {
      id: 'late',
      visitorId,
      startedAt,
      context: { userAgent: 'Mozilla/5.0 (X11) Firefox/130.0' },
    };
    const session = { ...sent, events: events.map((event) => ({ ...event, timestamp: startedAt })) };
    const batch = { appId: service.app, secretKey: service.secretKey, batchId: crypto.randomUUID() };
    const body = JSON.stringify({ ...batch, sessions: [session] });
    const response = await fetch(`${service.url}/sdk/v1/events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });
    return response.json();
  };
  expect(await refuse(31)).toMatchObject({
    accepted: 0,
    rejected: [{ session: 0, event: null, code: 'beyond_retention' }],
  });
  await service.metadata.setRetention(service.app, null);
  expect(await refuse(31)).toMatchObject({ rejected: [{ code: 'beyond_retention' }] });
  expect(await refuse(29)).toMatchObject({ accepted: 2 });
  const history = await service.ingestion.importHistory(
    (await service.metadata.findApp(service.app)) ?? expect.fail('no app'),
    [
      {
        id: 'h',
        visitorId: 'v',
        startedAt: FROM,
        events: [{ type: 'pageview', timestamp: FROM, path: '/' }],
      },
    ],
  );
  expect(history.rejected).toMatchObject([{ code: 'beyond_retention' }]);
});

test('a rebuild keeps the facts from before the horizon', async () => {
  const paths = ['pageviews', 'locations/all', 'user-growth'].map((question) => about(question));
  const before = await Promise.all(paths.map((path) => service.ask(path)));
  expect(await service.sealer.rebuild([service.app])).toBe(1);
  await service.sealer.run();
  for (const [i, path] of paths.entries()) expect((await service.ask(path)).text).toBe(before[i]?.text);
  const states = await service.sealer.states();
  for (const { sealedUntil } of states) expect(sealedUntil).toBeGreaterThan(epochMs(NOW - 2 * DAY));
});

test('what is left of an app is not exported', async () => {
  const { db, ingestion, metadata } = service;
  const pieces = exported({ db, ingestion }, await metadata.moving.moved(service.app));
  await expect(pieces.next()).rejects.toMatchObject({ code: 'beyond_retention' });
});

test('the audit names the setting', async () => {
  const entries = await service.metadata.listAudit(service.account);
  expect(entries.find(({ details }) => details['days'] === 30)).toMatchObject({
    action: 'app.retention',
    subject: service.app,
    details: { days: 30, domain: 'https://shop.example' },
    outcome: 'done',
  });
});
