import { beforeAll, describe, expect, test } from 'vitest';
import { askRightly, withService } from '../operations.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';
import { expectInvalid } from '../support.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const asking =
  (operationId: string) =>
  async (query = ''): Promise<unknown> =>
    (await askRightly(service(), operationId, { query })).json;

describe('getExtendedOverview', () => {
  const ask = asking('getExtendedOverview');

  const share = (name: string, sessions: number, of = 2) => ({ name, sessions, share: sessions / of });

  test('all sections over all data', async () => {
    expect(await ask()).toEqual({
      from: null,
      to: null,
      session: {
        sessions: 2,
        visitors: 2,
        newVisitors: 2,
        returningVisitors: 0,
        bounces: 0,
        bounceRate: 0,
        averageDurationMs: 40_500,
      },
      page: {
        pageviews: 3,
        uniquePages: 2,
        pagesPerSession: 1.5,
        averageTimeOnPageMs: 1667,
        topPages: [
          { path: '/', views: 2, uniqueSessions: 2 },
          { path: '/pricing', views: 1, uniqueSessions: 1 },
        ],
        entryPages: [{ path: '/', sessions: 2 }],
        exitPages: [
          { path: '/', sessions: 1 },
          { path: '/pricing', sessions: 1 },
        ],
      },
      interaction: {
        clicks: 1,
        clicksPerSession: 0.5,
        customEvents: 1,
        engagedMs: 5000,
        topTargets: [{ target: '#buy', clicks: 1 }],
        topCustomEvents: [{ name: 'signup', count: 1 }],
      },
      technology: {
        browsers: [share('Chrome', 2)],
        operatingSystems: [share('Windows', 2)],
        devices: [share('desktop', 2)],
        screenSizes: [share('(none)', 1), share('1920x1080', 1)],
        languages: [share('(none)', 1), share('fa-IR', 1)],
      },
      error: {
        errors: 1,
        sessionsWithErrors: 1,
        errorRate: 0.5,
        topErrors: [{ message: 'boom', count: 1, sessions: 1 }],
      },
      traffic: {
        channels: [share('direct', 1), share('email', 1)],
        referrers: [share('(none)', 1), share('google.com', 1)],
        countries: [share('(none)', 1), share('IR', 1)],
        utmSources: [share('(none)', 1), share('news', 1)],
      },
    });
  });

  test('the bounds come back in UTC', async () => {
    expect(await ask('&from=2026-11-18T13:30:00%2B03:30&to=2026-11-18T10:00:00.0009Z')).toMatchObject({
      from: '2026-11-18T10:00:00.000Z',
      to: '2026-11-18T10:00:00.000Z',
      session: { sessions: 1 },
      page: { pageviews: 1 },
    });
  });
});

describe('getOverviewKpis', () => {
  const ask = asking('getOverviewKpis');

  test('from alone lies before the end of today, UTC', async () => {
    const from = (at: string) =>
      service().ask(`/api/v1/sessions/overview/kpis?appId=${service().app}&from=${at}`);
    expect((await from('2026-11-20T23:59:59.999Z')).json).toMatchObject({
      current: { from: '2026-11-20T23:59:59.999Z', to: '2026-11-20T23:59:59.999Z' },
    });
    expect(expectInvalid(await from('2026-11-21T00:00:00Z')).map(({ field }) => field)).toEqual(['from']);
  });

  const NOTHING = {
    sessions: 0,
    visitors: 0,
    pageviews: 0,
    clicks: 0,
    errors: 0,
    bounceRate: 0,
    averageSessionDurationMs: 0,
    pagesPerSession: 0,
  };
  const THURSDAY = {
    ...NOTHING,
    sessions: 1,
    visitors: 1,
    pageviews: 1,
    averageSessionDurationMs: 60_000,
    pagesPerSession: 1,
  };
  const WEDNESDAY = {
    ...NOTHING,
    sessions: 1,
    visitors: 1,
    pageviews: 2,
    clicks: 1,
    errors: 1,
    averageSessionDurationMs: 21_000,
    pagesPerSession: 2,
  };
  const day = (date: string) => ({ from: `${date}T00:00:00.000Z`, to: `${date}T23:59:59.999Z` });

  test('today against yesterday, in UTC', async () => {
    expect(await ask()).toMatchObject({
      current: { ...day('2026-11-20'), ...NOTHING },
      previous: { ...day('2026-11-19'), ...THURSDAY },
      change: { sessions: -1, averageSessionDurationMs: -60_000 },
      changePercent: { sessions: -100, clicks: null },
    });
  });

  test('a range against the one of its length before it', async () => {
    const { from, to } = day('2026-11-19');
    expect(await ask(`&from=${from}&to=${to}`)).toEqual({
      current: { from, to, ...THURSDAY },
      previous: { ...day('2026-11-18'), ...WEDNESDAY },
      change: {
        sessions: 0,
        visitors: 0,
        pageviews: -1,
        clicks: -1,
        errors: -1,
        bounceRate: 0,
        averageSessionDurationMs: 39_000,
        pagesPerSession: -1,
      },
      changePercent: {
        sessions: 0,
        visitors: 0,
        pageviews: -50,
        clicks: -100,
        errors: -100,
        bounceRate: null,
        averageSessionDurationMs: 185.71,
        pagesPerSession: -50,
      },
    });
  });

  test('one bound: `from` until the end of today, or from the start of the day of `to`', async () => {
    expect(await ask('&from=2026-11-18T10:00:00.001Z')).toMatchObject({
      current: { from: '2026-11-18T10:00:00.001Z', to: '2026-11-20T23:59:59.999Z', sessions: 1 },
    });
    expect(await ask('&to=2026-11-18T10:00:00Z')).toMatchObject({
      current: { from: '2026-11-18T00:00:00.000Z', to: '2026-11-18T10:00:00.000Z', pageviews: 1 },
    });
  });
});

describe('getDataBounds', () => {
  const ask = asking('getDataBounds');

  test('starts of the earliest and the latest session', async () => {
    expect(await ask()).toEqual({ oldest: '2026-11-18T10:00:00.000Z', newest: '2026-11-19T22:00:00.000Z' });
  });

  test('nulls without data', async () => {
    const { key } = await service().newAccount();
    const created = await service().ask('/api/v1/apps', {
      method: 'POST',
      key,
      body: { name: 'Empty', domain: 'https://empty.example' },
    });
    const { id } = created.json as { id: string };
    const answer = await service().ask(`/api/v1/sessions/data-bounds?appId=${id}`, { key });
    expect(answer.json).toEqual({ oldest: null, newest: null });
  });
});
