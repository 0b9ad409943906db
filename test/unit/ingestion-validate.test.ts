import { describe, expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { validateSessions } from '../../src/ingestion/validate.ts';

const NOW = epochMs(Date.parse('2026-11-20T12:00:00.000Z'));
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

const EVENT = { type: 'pageview', timestamp: '2026-11-20T10:00:00Z', path: '/' };
const SESSION = { id: 's1', visitorId: 'v1', startedAt: '2026-11-20T10:00:00Z', events: [EVENT] };

const check = (sessions: readonly unknown[], userAgent = CHROME, maxAgeDays: number | null = 730) =>
  validateSessions(sessions, { now: NOW, maxAgeDays, userAgent });
const checkEvent = (event: unknown) => {
  const { sessions, rejected } = check([{ ...SESSION, events: [event] }]);
  return { event: sessions[0]?.events[0], rejected: rejected.map(({ code }) => code) };
};
const contextOf = (context: unknown) => check([{ ...SESSION, context }]).sessions[0]?.context;

describe('a session is rejected whole when', () => {
  test.each([
    ['it is no object', 'text'],
    ['it is null', null],
    ['its id is missing', { ...SESSION, id: undefined }],
    ['its id is empty', { ...SESSION, id: '' }],
    ['its id is longer than 64', { ...SESSION, id: 'x'.repeat(65) }],
    ['its id has another character', { ...SESSION, id: 'a b' }],
    ['its id ends with a line break', { ...SESSION, id: 'a\n' }],
    ['its id is a number', { ...SESSION, id: 7 }],
    ['its visitor is wrong', { ...SESSION, visitorId: 'ü' }],
    ['its start has no offset', { ...SESSION, startedAt: '2026-11-20T10:00:00' }],
    ['its start is a number', { ...SESSION, startedAt: NOW }],
    ['its events are no list', { ...SESSION, events: {} }],
    ['its context is no object', { ...SESSION, context: 'x' }],
    ['a context field has the wrong type', { ...SESSION, context: { referrer: 5 } }],
  ])('%s', (_, session) => {
    const { sessions, rejected } = check([SESSION, session, SESSION]);
    expect(sessions.map(({ index }) => index)).toEqual([0, 2]);
    expect(rejected).toMatchObject([{ session: 1, event: null, code: 'invalid_session' }]);
  });

  test.each([
    ['it names a crawler', GOOGLEBOT, CHROME],
    ['the request is a crawler', undefined, GOOGLEBOT],
  ])('%s', (_, userAgent, requestUserAgent) => {
    const { sessions, rejected } = check([{ ...SESSION, context: { userAgent } }], requestUserAgent);
    expect(sessions).toEqual([]);
    expect(rejected).toMatchObject([{ session: 0, event: null, code: 'bot' }]);
  });
});

test('a session whose corrected start lies before 1970 is rejected whole', () => {
  const events = [{ ...EVENT, timestamp: '1970-01-01T01:00:00.000Z' }];
  const session = { ...SESSION, startedAt: '1970-01-01T01:00:00.000Z', events };
  const corrected = (by: number) =>
    validateSessions([session], { now: NOW, maxAgeDays: null, userAgent: CHROME, correction: () => by });
  expect(corrected(-3_600_000).sessions).toMatchObject([{ startedAt: 0, events: [{ timestamp: 0 }] }]);
  expect(corrected(-3_600_001)).toMatchObject({ sessions: [], rejected: [{ code: 'invalid_session' }] });
});

test('a server or an app that sends sessions is no bot', () => {
  for (const sender of ['node', 'curl/8.5.0', 'my-backend/1.0', '']) {
    expect(check([SESSION], sender).sessions).toMatchObject([{ userAgent: sender }]);
  }
});

describe('an event is rejected alone when', () => {
  test.each([
    ['it is no object', 'x', 'invalid_event'],
    ['its type is unknown', { ...EVENT, type: 'scroll' }, 'invalid_event'],
    ['its type is inherited', { ...EVENT, type: 'constructor' }, 'invalid_event'],
    ['its timestamp is missing', { ...EVENT, timestamp: undefined }, 'invalid_event'],
    ['its timestamp is no date', { ...EVENT, timestamp: '2026-02-30T00:00:00Z' }, 'invalid_event'],
    ['its path is missing', { ...EVENT, path: undefined }, 'invalid_event'],
    ['its path does not start with /', { ...EVENT, path: 'pricing' }, 'invalid_event'],
    ['its path is only a query', { ...EVENT, path: '?a=1' }, 'invalid_event'],
    ['an error has no message', { ...EVENT, type: 'error' }, 'invalid_event'],
    ['an error message is empty', { ...EVENT, type: 'error', message: '\u0000' }, 'invalid_event'],
    ['a custom event has no name', { ...EVENT, type: 'custom', name: '' }, 'invalid_event'],
    ['a target is no text', { ...EVENT, type: 'click', target: 3 }, 'invalid_event'],
    ['a duration is missing', { ...EVENT, type: 'engagement' }, 'invalid_event'],
    ['a duration is not whole', { ...EVENT, type: 'engagement', durationMs: 0.5 }, 'invalid_event'],
    ['a duration is negative', { ...EVENT, type: 'engagement', durationMs: -1 }, 'invalid_event'],
    ['a duration is beyond a day', { ...EVENT, type: 'engagement', durationMs: 86_400_001 }, 'invalid_event'],
    ['it is before its session', { ...EVENT, timestamp: '2026-11-20T09:59:59.999Z' }, 'outside_session'],
  ])('%s', (_, event, code) => {
    const { sessions, rejected } = check([{ ...SESSION, events: [EVENT, event, EVENT] }]);
    expect(sessions[0]?.events.map(({ position }) => position)).toEqual([0, 2]);
    expect(rejected).toMatchObject([{ session: 0, event: 1, code }]);
  });
});

describe('times', () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const codes = (startedAt: number, timestamp: number, maxAgeDays: number | null = 730) =>
    check(
      [{ ...SESSION, startedAt: at(startedAt), events: [{ ...EVENT, timestamp: at(timestamp) }] }],
      CHROME,
      maxAgeDays,
    ).rejected.map(({ code }) => code);
  const DAY = 86_400_000;
  const OLDEST = NOW - 730 * DAY;

  test('an event may be as old as allowed, not a millisecond more', () => {
    expect(codes(OLDEST, OLDEST)).toEqual([]);
    expect(codes(OLDEST - 1, OLDEST - 1)).toEqual(['timestamp_too_old']);
    expect(codes(0, 0, null)).toEqual([]);
  });

  test('an event may be 5 minutes ahead, not a millisecond more', () => {
    expect(codes(NOW, NOW + 300_000)).toEqual([]);
    expect(codes(NOW, NOW + 300_001)).toEqual(['timestamp_in_future']);
  });

  test('a session lasts 24 hours, not a millisecond more', () => {
    expect(codes(NOW - DAY, NOW)).toEqual([]);
    expect(codes(NOW - DAY - 1, NOW)).toEqual(['outside_session']);
  });

  test.each([
    ['2026-11-20T13:30:00.250+03:30', '2026-11-20T10:00:00.250Z'],
    ['2026-11-20T10:00Z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T10:00:00.1239999Z', '2026-11-20T10:00:00.123Z'],
    ['2026-11-20T05:00:00-05:00', '2026-11-20T10:00:00.000Z'],
  ])('%s is %s', (timestamp, instant) => {
    const { event } = checkEvent({ ...EVENT, timestamp });
    expect(new Date(event?.timestamp ?? 0).toISOString()).toBe(instant);
  });

  test.each([
    '2026-11-20',
    '2026-11-20 10:00:00Z',
    '2026-11-20t10:00:00z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T10:60:00Z',
    '1969-12-31T23:59:59Z',
  ])('%s is no timestamp', (timestamp) => {
    expect(checkEvent({ ...EVENT, timestamp }).rejected).toEqual(['invalid_event']);
  });
});

describe('stored values', () => {
  test.each([
    ['/pricing?utm_source=x#top', '/pricing'],
    ['/#a?b', '/'],
    ['/a\u0000b\u009f', '/ab'],
    [`/${'ü'.repeat(3_000)}`, `/${'ü'.repeat(2_047)}`],
    [`/${'😀'.repeat(3_000)}`, `/${'😀'.repeat(2_047)}`],
    ['/\ud800x', '/\ufffdx'],
  ])('path %#', (path, kept) => {
    expect(checkEvent({ ...EVENT, path }).event?.path).toBe(kept);
  });

  test.each([
    [{ type: 'error', message: 'm'.repeat(2_000) }, 'm'.repeat(1_024)],
    [{ type: 'click', target: '#b\u0007uy' }, '#buy'],
    [{ type: 'click', target: 't'.repeat(600) }, 't'.repeat(512)],
    [{ type: 'click' }, ''],
    [{ type: 'click', target: null }, ''],
    [{ type: 'custom', name: 'n'.repeat(600) }, 'n'.repeat(512)],
    [{ type: 'pageview', target: '#x', message: 'x', name: 'x' }, ''],
  ])('label %#', (fields, label) => {
    expect(checkEvent({ ...EVENT, ...fields }).event?.label).toBe(label);
  });

  test('a duration up to a day, of engagement only', () => {
    expect(checkEvent({ ...EVENT, type: 'engagement', durationMs: 86_400_000 }).event?.durationMs).toBe(
      86_400_000,
    );
    expect(checkEvent({ ...EVENT, durationMs: 5 }).event?.durationMs).toBe(0);
  });

  test.each([
    ['fa-ir', 'fa-IR'],
    ['ZH-hant-tw', 'zh-Hant-TW'],
    ['fa_IR', ''],
    ['', ''],
    ['nonsense-that-is-no-tag-at-all-x', ''],
  ])('language %j becomes %j', (language, kept) => {
    expect(contextOf({ language })?.language).toBe(kept);
  });

  test.each([
    [{ latitude: 35.7, longitude: 51.4 }, 35.7, 51.4],
    [{ latitude: -90, longitude: 180 }, -90, 180],
    [{ latitude: 0, longitude: 0 }, 0, 0],
    [{ latitude: 90.1, longitude: 51.4 }, null, null],
    [{ latitude: 35.7, longitude: -180.5 }, null, null],
    [{ latitude: 35.7 }, null, null],
    [{ longitude: 51.4, latitude: null }, null, null],
    [{ latitude: '35.7', longitude: '51.4' }, null, null],
  ])('coordinates %j', (sent, latitude, longitude) => {
    expect(contextOf({ location: { country: 'IR', ...sent } })?.location).toMatchObject({
      country: 'IR',
      latitude,
      longitude,
    });
  });

  test('lengths of the context', () => {
    const long = 'x'.repeat(5_000);
    const context = contextOf({
      referrer: long,
      screen: long,
      userAgent: long,
      utm: { source: long, medium: long, campaign: long, term: long, content: long },
      location: { country: long, region: long, city: long },
    });
    expect(context?.referrer).toHaveLength(2_048);
    expect(context?.screen).toHaveLength(16);
    expect(context?.userAgent).toHaveLength(1_024);
    const { source, medium, campaign, term, content, location } = context ?? {};
    for (const text of [
      source,
      medium,
      campaign,
      term,
      content,
      location?.country,
      location?.region,
      location?.city,
    ]) {
      expect(text).toHaveLength(256);
    }
  });

  test('unknown fields change nothing, whatever their names', () => {
    const odd = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2, "extra": [], "id": "s1"}');
    const event = { ...EVENT, ...JSON.parse('{"__proto__": {"path": "/x"}, "future": true}') };
    const { sessions, rejected } = check([
      { ...SESSION, ...odd, events: [event], context: { ...odd, id: undefined } },
    ]);
    expect(rejected).toEqual([]);
    expect(sessions).toMatchObject([{ id: 's1', events: [{ path: '/' }] }]);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('a place may be a country alone', () => {
    expect(contextOf({ location: { country: 'IR' } })?.location).toMatchObject({
      country: 'IR',
      latitude: null,
    });
  });

  test('null stands for an absent field of the context', () => {
    const context = contextOf({
      referrer: null,
      utm: null,
      language: null,
      screen: null,
      userAgent: null,
      location: null,
    });
    expect(context).toMatchObject({
      referrer: '',
      source: '',
      language: '',
      screen: '',
      userAgent: null,
      location: null,
    });
  });
});
