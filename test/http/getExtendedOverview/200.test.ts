import { beforeAll, expect, test } from 'vitest';
import { askRightly, withService } from '../cases.ts';
import { AT_NOON, SAMPLE } from '../sample.ts';

const service = withService(AT_NOON);
beforeAll(() => service().record(SAMPLE));
const ask = async (query = '') => (await askRightly(service(), 'getExtendedOverview', { query })).json;

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
