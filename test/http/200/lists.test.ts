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

describe('listPageviews', () => {
  const ask = asking('listPageviews');

  const HOME = { path: '/', views: 2, uniqueSessions: 2 };
  const PRICING = { path: '/pricing', views: 1, uniqueSessions: 1 };

  test('views and sessions per path, cut by limit after ordering', async () => {
    expect(await ask()).toEqual([HOME, PRICING]);
    expect(await ask('&limit=1')).toEqual([HOME]);
  });

  test('both bounds are inclusive, to the millisecond, in any offset', async () => {
    expect(await ask('&from=2026-11-18T10:00:20.000Z&to=2026-11-18T10:00:20Z')).toEqual([PRICING]);
    expect(await ask('&from=2026-11-18T13:30:20.000%2B03:30&to=2026-11-18T13:30:20%2B03:30')).toEqual([
      PRICING,
    ]);
    expect(await ask('&from=2026-11-18T10:00:20.0001Z&to=2026-11-19T21:59:59.999Z')).toEqual([]);
    expect(await ask('&from=2026-11-18T10:00:20.001Z')).toEqual([{ ...HOME, views: 1, uniqueSessions: 1 }]);
    expect(await ask('&to=2026-11-18T10:00:19.999999Z')).toEqual([{ ...HOME, views: 1, uniqueSessions: 1 }]);
  });
});

describe('listTimeSpent', () => {
  const ask = asking('listTimeSpent');

  test('engagement per path, averaged over its pageviews in the range', async () => {
    expect(await ask()).toEqual([{ path: '/', totalMs: 5000, averageMs: 2500 }]);
    expect(await ask('&to=2026-11-18T23:00:00Z&limit=1')).toEqual([
      { path: '/', totalMs: 5000, averageMs: 5000 },
    ]);
    expect(await ask('&from=2026-11-19T00:00Z')).toEqual([]);
  });
});

describe('listEvents', () => {
  const ask = asking('listEvents');
  const one = (name: string | null) => ({ name, count: 1, sessions: 1, visitors: 1 });
  const of = async (query: string): Promise<unknown> =>
    (await service().ask(`/api/v1/sessions/events?appId=${service().app}&${query}`)).json;

  test('targets, messages and names of the events, with their sessions and visitors', async () => {
    expect(await of('type=click')).toEqual([one('#buy')]);
    expect(await of('type=error')).toEqual([one('boom')]);
    expect(await ask()).toEqual([one('signup')]);
    expect(await ask('&to=2026-11-19T22:00:59.999Z')).toEqual([]);
    expect(await ask('&from=2026-11-19T22:01:00Z&to=2026-11-19T22:01:00Z&limit=1')).toEqual([one('signup')]);
  });

  test('the values of a property', async () => {
    expect(await ask('&name=signup&property=plan')).toEqual([one('pro')]);
    expect(await ask('&name=signup&property=seats')).toEqual([one(null)]);
    expect(await ask('&name=Signup&property=plan')).toEqual([]);
  });

  test('of some sessions', async () => {
    expect(await ask('&segment=country%3D%3DIR')).toEqual([]);
    expect(await ask('&segment=country%3D%3D')).toEqual([one('signup')]);
    expect(await ask('&name=signup&property=plan&segment=event%3D%3Dsignup')).toEqual([one('pro')]);
  });

  test.each([
    ['', ['type']],
    ['type=pageview', ['type']],
    ['type=engagement', ['type']],
    ['type=custom&name=signup', ['property']],
    ['type=custom&property=plan', ['name']],
    ['type=click&name=signup', ['name']],
    ['type=error&property=plan', ['property']],
    ['type=click&name=signup&property=plan', ['name', 'property']],
    ['type=custom&name=&property=plan', ['name']],
    ['type=custom&name=signup&property=', ['property']],
    ['type=custom&segment=', ['segment']],
    ['type=custom&segment=planet%3D%3Dx', ['segment']],
    ['type=custom&limit=0', ['limit']],
    ['type=custom&interval=day', ['interval']],
  ])('400: %s', async (query, fields) => {
    const answer = await service().ask(`/api/v1/sessions/events?appId=${service().app}&${query}`);
    expect(expectInvalid(answer).map(({ field }) => field)).toEqual(fields);
  });
});

describe('listUserGrowth', () => {
  const ask = asking('listUserGrowth');

  const WEDNESDAY = { date: '2026-11-18', sessions: 1, visitors: 1, pageviews: 2, clicks: 1 };
  const THURSDAY = { date: '2026-11-19', sessions: 1, visitors: 1, pageviews: 1, clicks: 0 };
  const none = (date: string) => ({ date, sessions: 0, visitors: 0, pageviews: 0, clicks: 0 });

  test('from the first to the last day with data', async () => {
    expect(await ask()).toEqual([WEDNESDAY, THURSDAY]);
  });

  test('every day between two bounds, a cut day only inside', async () => {
    expect(await ask('&from=2026-11-17T23:59:59.999Z&to=2026-11-18T10:00:00Z')).toEqual([
      none('2026-11-17'),
      { ...WEDNESDAY, pageviews: 1, clicks: 0 },
    ]);
  });

  test('4,000 days', async () => {
    const days = await ask('&from=2016-01-01T00:00:00Z&to=2026-12-13T23:59:59.999Z');
    expect(days).toHaveLength(4000);
  });

  test('no more than 4,000 days, also with one bound', async () => {
    const path = `/api/v1/sessions/user-growth?appId=${service().app}`;
    for (const query of [
      '&from=2016-01-01T00:00:00Z&to=2026-12-14T00:00:00Z',
      '&from=2010-01-01T00:00:00Z',
      '&to=2045-01-01T00:00:00Z',
    ]) {
      expect(expectInvalid(await service().ask(path + query)).map(({ field }) => field)).toEqual(['from']);
    }
  });
});

describe('listLocations', () => {
  const ask = asking('listLocations');

  test('sessions per place with coordinates', async () => {
    expect(await ask()).toEqual([
      { country: 'IR', region: null, city: 'Tehran', latitude: 35.7, longitude: 51.4, count: 1 },
    ]);
    expect(await ask('&to=2026-11-18T09:59:59.999Z&limit=5')).toEqual([]);
  });
});

describe('listUtmCampaigns', () => {
  const ask = asking('listUtmCampaigns');

  test('the first 100 by sessions, then by name', async () => {
    const { app, ask: askTenant } = await service().newTenant();
    const startedAt = '2026-11-19T10:00:00.000Z';
    const visit = (campaign: number, visit: number) => ({
      id: `${campaign}-${visit}`,
      visitorId: 'v',
      startedAt,
      context: { utm: { source: `s${1000 + campaign}` } },
      events: [{ type: 'pageview' as const, timestamp: startedAt, path: '/' }],
    });
    const once = Array.from({ length: 130 }, (_, campaign) => visit(campaign, 1));
    await service().record([...once, visit(129, 2)], app);
    const { json } = await askTenant(`/api/v1/growth/utm?appId=${app}`);
    const sources = (json as { source: string }[]).map(({ source }) => source);
    expect(sources).toEqual(['s1129', ...once.slice(0, 99).map((_, campaign) => `s${1000 + campaign}`)]);
  });

  test('combinations with a source', async () => {
    expect(await ask()).toEqual([
      {
        source: 'news',
        medium: 'email',
        campaign: null,
        term: null,
        content: null,
        sessions: 1,
        visitors: 1,
      },
    ]);
    expect(await ask('&from=2026-11-18T10:00:00.001Z')).toEqual([]);
  });
});

describe('getTrafficHeatmap', () => {
  const ask = asking('getTrafficHeatmap');

  test('the last 7 Tehran days by Tehran hours', async () => {
    const { days, ...window } = (await ask()) as {
      days: { date: string; sessions: number[]; pageviews: number[] }[];
    };
    expect(window).toEqual({
      timezone: 'Asia/Tehran',
      from: '2026-11-13T20:30:00.000Z',
      to: '2026-11-20T20:29:59.999Z',
    });
    expect(days.map(({ date }) => date)).toEqual(
      [14, 15, 16, 17, 18, 19, 20].map((date) => `2026-11-${date}`),
    );
    const busy = days.flatMap(({ date, sessions, pageviews }) =>
      sessions.flatMap((count, hour) =>
        count > 0 ? [{ date, hour, count, pageviews: pageviews[hour] }] : [],
      ),
    );
    expect(busy).toEqual([
      { date: '2026-11-18', hour: 13, count: 1, pageviews: 2 },
      { date: '2026-11-20', hour: 1, count: 1, pageviews: 1 },
    ]);
  });
});

describe('getAudienceActivity', () => {
  const ask = asking('getAudienceActivity');

  test('averages over 672 Tehran hours', async () => {
    const { days, ...window } = (await ask()) as {
      days: { dayOfWeek: number; sessions: number[]; pageviews: number[] }[];
    };
    expect(window).toEqual({
      timezone: 'Asia/Tehran',
      from: '2026-10-23T12:30:00.000Z',
      to: '2026-11-20T12:29:59.999Z',
      windowDays: 28,
    });
    expect(days.map(({ dayOfWeek }) => dayOfWeek)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const busy = days.flatMap(({ dayOfWeek, sessions, pageviews }) =>
      sessions.flatMap((mean, hour) =>
        mean > 0 ? [{ dayOfWeek, hour, mean, pageviews: pageviews[hour] }] : [],
      ),
    );
    expect(busy).toEqual([
      { dayOfWeek: 3, hour: 13, mean: 0.25, pageviews: 0.5 },
      { dayOfWeek: 5, hour: 1, mean: 0.25, pageviews: 0.25 },
    ]);
  });
});
