import { expect, test } from 'vitest';
import { appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { ranked, ratio } from '../support/oracle/exact.ts';
import { known } from '../support/oracle/known.ts';
import type { Delivery, SentContext, SentEvent } from '../support/oracle/model.ts';
import { createOracle } from '../support/oracle/oracle.ts';
import { tehranDayStart, tehranHourStart, tehranTime } from '../support/oracle/tehran.ts';

const APP = appId('00000000-0000-4000-8000-000000000001');
const at = (text: string) => epochMs(new Date(text).getTime());
const OPEN = { from: null, to: null };

const view = (time: string, path: string): SentEvent => ({ type: 'pageview', timestamp: at(time), path });

const delivery = (
  [id, visitorId, startedAt]: readonly [string, string, string],
  events: readonly SentEvent[],
  context: SentContext = {},
): Delivery => ({
  appId: APP,
  appDomain: 'https://shop.example',
  session: { id, visitorId, startedAt: at(startedAt) },
  context,
  events,
});

const oracle = (deliveries: readonly Delivery[], now = '2026-11-20T00:00:00Z') =>
  createOracle(deliveries, known, () => at(now));

test('rounds half up, towards +∞, on exact values', () => {
  expect(ratio(1, 20_000, 4)).toBe(0.0001);
  expect(ratio(1, 20_001, 4)).toBe(0);
  expect(ratio(1_005, 1_000, 2)).toBe(1.01);
  expect(ratio(-5, 1_000, 2)).toBe(0);
  expect(ratio(-15, 1_000, 2)).toBe(-0.01);
  expect(ratio(-16, 1_000, 2)).toBe(-0.02);
  expect(ratio(2, 3, 4)).toBe(0.6667);
  expect(ratio(7, 0, 4)).toBe(0);
});

test('orders by count, then by UTF-8 bytes, nulls last', () => {
  const items = [null, '\u{1F33C}', '\uFF21', 'a', 'B'].map((name) => ({ name, count: 1 }));
  const first = { name: 'z', count: 2 };
  const sorted = ranked(
    [...items, first],
    ({ count }) => count,
    ({ name }) => [name],
  );
  expect(sorted.map(({ name }) => name)).toEqual(['z', 'B', 'a', '\uFF21', '\u{1F33C}', null]);
});

test('knows the hours and days of Tehran, with daylight saving until 2022', () => {
  expect(tehranTime(at('2026-11-20T20:30:00Z'))).toMatchObject({ date: '2026-11-21', hour: 0, dayOfWeek: 6 });
  expect(tehranTime(at('2022-09-21T19:29:59.999Z'))).toMatchObject({ date: '2022-09-21', hour: 23 });
  expect(tehranTime(at('2022-09-21T19:30:00Z'))).toMatchObject({ date: '2022-09-21', hour: 23 });
  expect(tehranTime(at('2022-09-21T20:30:00Z'))).toMatchObject({ date: '2022-09-22', hour: 0 });
  expect(tehranDayStart('2022-03-22')).toBe(at('2022-03-21T20:30:00Z'));
  expect(tehranTime(tehranDayStart('2022-03-22')).hour).toBe(1);
  expect(tehranHourStart(at('2026-11-20T07:16:05.250Z'))).toBe(at('2026-11-20T06:30:00Z'));
});

test('takes each field of a session from its earliest event, whatever arrives first', () => {
  const key = ['s1', 'v1', '2026-11-20T10:00:00Z'] as const;
  const late = delivery(key, [view('2026-11-20T10:05:00Z', '/late')], {
    screen: '1x1',
    utm: { source: 'google' },
  });
  const early = delivery(key, [view('2026-11-20T10:00:00Z', '/first')], { utm: { source: 'newsletter' } });
  const tie = delivery(['s1', 'v0', key[2]], [view('2026-11-20T10:00:00Z', '/tied')], {
    utm: { source: 'facebook', campaign: 'one' },
  });
  const { session, technology, page, traffic } = oracle([late, tie, early]).overview(APP, OPEN);
  expect(session).toMatchObject({ sessions: 1, visitors: 1, averageDurationMs: 300_000, bounces: 0 });
  expect(technology.screenSizes).toEqual([{ name: '(none)', sessions: 1, share: 1 }]);
  expect(traffic.utmSources).toEqual([{ name: 'facebook', sessions: 1, share: 1 }]);
  expect(traffic.channels).toEqual([{ name: 'social', sessions: 1, share: 1 }]);
  expect(page.entryPages).toEqual([{ path: '/first', sessions: 1 }]);
  expect(page.exitPages).toEqual([{ path: '/late', sessions: 1 }]);
  expect(oracle([late, tie, early]).utmCampaigns(APP, OPEN)).toEqual([
    { source: 'facebook', medium: null, campaign: null, term: null, content: null, sessions: 1, visitors: 1 },
  ]);
});

test('counts events by their time and sessions by their start', () => {
  const deliveries = [
    delivery(
      ['s1', 'v1', '2026-11-19T23:59:59.999Z'],
      [
        view('2026-11-19T23:59:59.999Z', '/'),
        view('2026-11-20T00:00:00Z', '/'),
        view('2026-11-20T00:00:01Z', '/'),
      ],
    ),
    delivery(['s1', 'v1', '2026-11-20T00:00:00Z'], [view('2026-11-20T00:00:00Z', '/')]),
    delivery(
      ['s2', 'v2', '2026-11-20T12:00:00Z'],
      [
        { type: 'engagement', timestamp: at('2026-11-20T12:00:00Z'), path: '/', durationMs: 5 },
        { type: 'engagement', timestamp: at('2026-11-20T12:00:00Z'), path: '/b', durationMs: 7 },
        { type: 'engagement', timestamp: at('2026-11-20T12:00:09Z'), path: '/b', durationMs: 0 },
      ],
    ),
  ];
  const asked = oracle(deliveries);
  const day = { from: at('2026-11-20T00:00:00Z'), to: at('2026-11-20T23:59:59.999Z') };
  expect(asked.dataBounds(APP)).toEqual({
    oldest: '2026-11-19T23:59:59.999Z',
    newest: '2026-11-20T12:00:00.000Z',
  });
  expect(asked.pageviews(APP, day)).toEqual([{ path: '/', views: 3, uniqueSessions: 2 }]);
  expect(asked.timeSpent(APP, day)).toEqual([
    { path: '/b', totalMs: 7, averageMs: 4 },
    { path: '/', totalMs: 5, averageMs: 2 },
  ]);
  expect(asked.overview(APP, day).session).toEqual({
    sessions: 2,
    visitors: 2,
    newVisitors: 1,
    returningVisitors: 1,
    bounces: 2,
    bounceRate: 1,
    averageDurationMs: 4_500,
  });
  const { current, previous, change, changePercent } = asked.kpis(APP, day);
  expect(current).toMatchObject({ sessions: 2, pageviews: 3, bounceRate: 1, pagesPerSession: 0.5 });
  expect(previous).toMatchObject({
    from: '2026-11-19T00:00:00.000Z',
    to: '2026-11-19T23:59:59.999Z',
    sessions: 1,
    pageviews: 1,
    averageSessionDurationMs: 1_001,
    pagesPerSession: 3,
  });
  expect(change).toMatchObject({ sessions: 1, bounceRate: 1, pagesPerSession: -2.5 });
  expect(changePercent).toMatchObject({
    sessions: 100,
    bounceRate: null,
    pagesPerSession: -83.33,
    errors: null,
  });
});

test('lists growth by UTC day, a cut day with the part inside, omitted bounds at the ends of the data', () => {
  const asked = oracle([
    delivery(['s1', 'v1', '2026-11-18T10:00:00Z'], [view('2026-11-18T10:00:00Z', '/')]),
    delivery(['s2', 'v1', '2026-11-18T23:00:00Z'], [view('2026-11-19T01:00:00Z', '/')]),
  ]);
  const none = { sessions: 0, visitors: 0, pageviews: 0, clicks: 0 };
  expect(asked.userGrowth(APP, OPEN)).toEqual([
    { date: '2026-11-18', sessions: 2, visitors: 1, pageviews: 1, clicks: 0 },
    { ...none, date: '2026-11-19', pageviews: 1 },
  ]);
  expect(
    asked.userGrowth(APP, { from: at('2026-11-18T10:00:00.001Z'), to: at('2026-11-19T00:59:59Z') }),
  ).toEqual([
    { ...none, date: '2026-11-18', sessions: 1, visitors: 1 },
    { ...none, date: '2026-11-19' },
  ]);
  expect(asked.userGrowth(APP, { from: at('2026-11-19T01:00:00.001Z'), to: null })).toEqual([]);
  expect(oracle([]).userGrowth(APP, OPEN)).toEqual([]);
  expect(
    oracle([]).userGrowth(APP, { from: at('2026-11-19T05:00:00Z'), to: at('2026-11-19T06:00:00Z') }),
  ).toEqual([{ ...none, date: '2026-11-19' }]);
});

test('lays the heatmap on Tehran hours and leaves hours to come at 0', () => {
  const asked = oracle(
    [
      delivery(['s1', 'v1', '2026-11-19T20:30:00Z'], [view('2026-11-19T20:30:00Z', '/')]),
      delivery(['s2', 'v1', '2026-11-19T21:29:59.999Z'], [view('2026-11-19T21:30:00Z', '/')]),
      delivery(['s3', 'v2', '2026-11-20T00:01:00Z'], [view('2026-11-20T00:30:00Z', '/')]),
    ],
    '2026-11-20T00:00:00Z',
  );
  const { from, to, days } = asked.trafficHeatmap(APP);
  expect([from, to]).toEqual(['2026-11-13T20:30:00.000Z', '2026-11-20T20:29:59.999Z']);
  expect(days.map(({ date }) => date)).toEqual([14, 15, 16, 17, 18, 19, 20].map((day) => `2026-11-${day}`));
  const today = days.at(-1);
  expect(today?.sessions.slice(0, 5)).toEqual([2, 0, 0, 1, 0]);
  expect(today?.visitors.slice(0, 5)).toEqual([1, 0, 0, 1, 0]);
  expect(today?.pageviews.slice(0, 5)).toEqual([1, 1, 0, 0, 0]);
});

test('averages each cell of the audience over its four hours', () => {
  const friday = (date: string) => [
    delivery([`a${date}`, 'v1', `${date}T06:30:00Z`], [view(`${date}T06:30:00Z`, '/')]),
    delivery([`b${date}`, 'v1', `${date}T07:29:59.999Z`], [view(`${date}T07:29:59.999Z`, '/')]),
  ];
  const deliveries = ['2026-10-23', '2026-10-30', '2026-11-13', '2026-11-20'].flatMap(friday);
  const { from, to, days } = oracle(deliveries, '2026-11-20T07:16:00Z').audienceActivity(APP);
  expect([from, to]).toEqual(['2026-10-23T07:30:00.000Z', '2026-11-20T07:29:59.999Z']);
  expect(days[4]).toMatchObject({ dayOfWeek: 5 });
  expect([days[4]?.sessions[10], days[4]?.visitors[10], days[4]?.pageviews[10]]).toEqual([1.5, 0.75, 1.5]);
});

test('lists places with coordinates, and the unknown (0, 0) never', () => {
  const place = (id: string, latitude: number, longitude: number, city?: string) =>
    delivery([id, id, '2026-11-20T10:00:00Z'], [view('2026-11-20T10:00:00Z', '/')], {
      location: { latitude, longitude, ...(city === undefined ? {} : { city }) },
    });
  const asked = oracle([
    place('a', 35.7, 51.4),
    place('b', 35.7, 51.4, 'Tehran'),
    place('c', 35.7, 51.4, 'Tehran'),
    place('d', -0, 0),
    place('e', 91, 0),
    place('f', -0, 5),
    place('g', 0, 5),
  ]);
  const nowhere = { country: null, region: null, city: null };
  expect(asked.locations(APP, OPEN)).toEqual([
    { ...nowhere, city: 'Tehran', latitude: 35.7, longitude: 51.4, count: 2 },
    { ...nowhere, latitude: 0, longitude: 5, count: 2 },
    { ...nowhere, latitude: 35.7, longitude: 51.4, count: 1 },
  ]);
  expect(asked.locations(APP, OPEN, 1)).toHaveLength(1);
});
