import { describe, expect, test } from 'vitest';
import { appId } from '../../src/domain/ids.ts';
import type { SeriesQuestion } from '../../src/domain/interval.ts';
import { parseSegment, type Segment } from '../../src/domain/segment.ts';
import { epochMs } from '../../src/domain/time.ts';
import { segmentArbitrary, spelled } from '../support/generate-segments.ts';
import { unitAt } from '../support/oracle/calendar.ts';
import { known } from '../support/oracle/known.ts';
import type { Delivery, SentContext, SentEvent } from '../support/oracle/model.ts';
import { createOracle } from '../support/oracle/oracle.ts';
import { iso } from '../support/oracle/questions.ts';
import { forAll } from '../support/random.ts';

const APP = appId('00000000-0000-4000-8000-000000000001');
const at = (text: string) => epochMs(new Date(text).getTime());
const OPEN = { from: null, to: null };

const segmentOf = (text: string): Segment => {
  const segment = parseSegment(text);
  if ('problem' in segment) throw new Error(segment.problem);
  return segment;
};

const event = (time: string, more: Partial<SentEvent> = {}): SentEvent => ({
  type: 'pageview',
  timestamp: at(time),
  path: '/',
  ...more,
});

const delivery = (
  [id, visitorId, startedAt]: readonly [string, string, string],
  events: readonly SentEvent[],
  context: SentContext = {},
): Delivery => ({
  appId: APP,
  appDomain: 'https://shop.example',
  session: { id, visitorId, startedAt: at(startedAt) },
  context: { userAgent: '', referrer: '', language: '', ...context },
  events,
});

const STORY = [
  delivery(
    ['a', 'v1', '2026-11-20T10:00:00Z'],
    [event('2026-11-20T10:00:00Z'), event('2026-11-20T11:00:00Z', { path: '/b?x' })],
    {
      location: { country: 'IR', city: '\u{1F33C}' },
    },
  ),
  delivery(['b', 'v1', '2026-11-20T12:00:00Z'], [event('2026-11-20T12:00:00Z', { type: 'click' })], {
    location: { country: 'DE' },
  }),
  delivery(
    ['c', 'v2', '2026-11-20T12:00:00Z'],
    [event('2026-11-20T12:00:01Z', { type: 'click', target: '#buy' })],
    {
      utm: { campaign: 'a;b,c%' },
    },
  ),
];
const oracle = createOracle(STORY, known, () => at('2026-11-20T12:00:00Z'));

describe('the oracle counts the sessions that match', () => {
  test.each([
    ['country==IR', 'a'],
    ['country!=IR', 'bc'],
    ['country==', 'c'],
    ['country!=', 'ab'],
    ['country==IR,country==DE', 'ab'],
    ['country==IR;visitorType==new', 'a'],
    ['country=@R', 'a'],
    ['country!@R', 'bc'],
    ['country=^D', 'b'],
    ['country=$E', 'b'],
    ['city==🌼', 'a'],
    ['city=@%F0%9F%8C%BC', 'a'],
    ['campaign==a%3Bb%2Cc%25', 'c'],
    ['campaign==(none)', ''],
    ['browser==', 'abc'],
    ['visitorType==returning', 'b'],
    ['visitorType!=returning', 'ac'],
    ['page==/b', 'a'],
    ['page!=/b', 'bc'],
    ['page==', 'bc'],
    ['page!=', 'a'],
    ['page=$b', 'a'],
    ['page!@b', 'bc'],
    ['target==', 'ab'],
    ['target!=', 'c'],
    ['target!=#buy', 'ab'],
    ['target!@%23', 'ab'],
    ['entryPage==/', 'a'],
    ['exitPage==/b', 'a'],
    ['exitPage==', 'bc'],
    ['event==', 'abc'],
    ['error!=', ''],
  ])('%s', (text, sessions) => {
    const { session } = oracle.overview(APP, OPEN, segmentOf(text));
    expect(session.sessions).toBe(sessions.length);
    const durations: Record<string, number> = { a: 3_600_000, b: 0, c: 1_000 };
    const total = [...sessions].reduce((sum, each) => sum + (durations[each] ?? 0), 0);
    expect(session.averageDurationMs).toBe(sessions === '' ? 0 : Math.round(total / sessions.length));
  });

  test('new are visitors whose first session started in the range, also one that does not match', () => {
    const german = segmentOf('country==DE');
    expect(oracle.overview(APP, OPEN, german).session).toMatchObject({ visitors: 1, newVisitors: 1 });
    const noon = { from: at('2026-11-20T11:00:00Z'), to: null };
    expect(oracle.overview(APP, noon, german).session).toMatchObject({ visitors: 1, newVisitors: 0 });
  });

  test('breakdown, series and the last 30 minutes', () => {
    const row = { bounceRate: 1, pagesPerSession: 0, pageviews: 0, sessions: 1, visitors: 1, share: 0.3333 };
    expect(oracle.breakdown(APP, OPEN, 'country')).toEqual([
      { ...row, name: 'DE', averageSessionDurationMs: 0, bounceRate: 0 },
      {
        ...row,
        name: 'IR',
        averageSessionDurationMs: 3_600_000,
        pageviews: 2,
        pagesPerSession: 2,
        bounceRate: 0,
      },
      { ...row, name: null, averageSessionDurationMs: 1_000, bounceRate: 0 },
    ]);
    expect(oracle.breakdown(APP, OPEN, 'entryPage')).toMatchObject([
      { name: '/', sessions: 1, share: 0.3333 },
    ]);
    const day = { interval: 'day', timezone: 'Asia/Kathmandu' } as const;
    expect(oracle.series(APP, OPEN, day, segmentOf('country==DE')).points).toMatchObject([
      { start: '2026-11-19T18:15:00.000Z', sessions: 1, clicks: 1, pageviews: 0 },
    ]);
    expect(oracle.realtime(APP)).toMatchObject({
      from: '2026-11-20T11:31:00.000Z',
      to: '2026-11-20T12:00:59.999Z',
      sessions: 2,
      visitors: 2,
      activeVisitors: 2,
      channels: [
        { name: 'campaign', sessions: 1 },
        { name: 'direct', sessions: 1 },
      ],
    });
    expect(oracle.events(APP, OPEN, { type: 'click', property: null })).toEqual([
      { name: '#buy', count: 1, sessions: 1, visitors: 1 },
      { name: null, count: 1, sessions: 1, visitors: 1 },
    ]);
  });
});

const starts = (
  interval: SeriesQuestion['interval'],
  timezone: string,
  from: string,
  count: number,
): string[] => {
  const found: string[] = [];
  for (let next = at(from) as number; found.length < count; ) {
    const { start, end } = unitAt({ interval, timezone }, next);
    found.push(iso(start).replace(':00.000Z', ''));
    next = end;
  }
  return found;
};

test.each([
  ['hour', 'Asia/Kathmandu', '2026-11-20T00:00Z', ['2026-11-19T23:15', '2026-11-20T00:15']],
  ['hour', '-00:01', '2026-11-20T00:00Z', ['2026-11-19T23:01', '2026-11-20T00:01']],
  // 02:00 becomes 02:30, and 02:00 becomes 01:30.
  [
    'hour',
    'Australia/Lord_Howe',
    '2026-10-03T14:45Z',
    ['2026-10-03T14:30', '2026-10-03T15:30', '2026-10-03T16:00'],
  ],
  [
    'hour',
    'Australia/Lord_Howe',
    '2026-04-04T14:10Z',
    ['2026-04-04T14:00', '2026-04-04T15:00', '2026-04-04T15:30'],
  ],
  [
    'hour',
    'Antarctica/Troll',
    '2026-03-29T00:10Z',
    ['2026-03-29T00:00', '2026-03-29T01:00', '2026-03-29T02:00'],
  ],
  // From -00:44:30 to UTC.
  [
    'hour',
    'Africa/Monrovia',
    '1972-01-06T23:50Z',
    ['1972-01-06T23:44:30.000Z', '1972-01-07T00:44:30.000Z', '1972-01-07T01:00'],
  ],
  ['day', 'Asia/Tehran', '2022-03-21T00:00Z', ['2022-03-20T20:30', '2022-03-21T20:30', '2022-03-22T19:30']],
  // There was no 30 December.
  ['day', 'Pacific/Apia', '2011-12-29T12:00Z', ['2011-12-29T10:00', '2011-12-30T10:00', '2011-12-31T10:00']],
  // At 00:01 the clock is set back to 23:01 of the day before.
  ['day', 'America/St_Johns', '2010-11-07T03:00Z', ['2010-11-07T02:30', '2010-11-08T03:30']],
  [
    'week',
    'Europe/London',
    '2026-03-24T00:00Z',
    ['2026-03-23T00:00', '2026-03-29T23:00', '2026-04-05T23:00'],
  ],
  [
    'month',
    'America/New_York',
    '2026-11-20T00:00Z',
    ['2026-11-01T04:00', '2026-12-01T05:00', '2027-01-01T05:00'],
  ],
] as const)('the calendar of the oracle: %s in %s', (interval, timezone, from, expected) => {
  expect(starts(interval, timezone, from, expected.length)).toEqual(expected);
});

test('segments are read as they are spelled', async () => {
  await forAll(segmentArbitrary, (segment) => {
    const text = new URLSearchParams(new URLSearchParams({ segment: spelled(segment) }).toString()).get(
      'segment',
    );
    const formed = JSON.parse(JSON.stringify(segment), (_, value) =>
      typeof value === 'string' ? Buffer.from(value).toString() : value,
    );
    expect(parseSegment(text ?? '')).toEqual(formed);
  });
});
