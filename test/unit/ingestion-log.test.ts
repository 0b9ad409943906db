import { describe, expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { type LogRequest, parseCombined } from '../../src/ingestion/combined-log.ts';
import { LogSessions } from '../../src/ingestion/log-sessions.ts';

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
const line = (request = 'GET / HTTP/1.1', status = 200, agent = AGENT, referrer = '-'): string =>
  `192.0.2.7 - - [17/May/2015:10:05:03 +0330] "${request}" ${status} 203 "${referrer}" "${agent}"`;

describe('a line of a combined log', () => {
  test('is a pageview', () => {
    expect(parseCombined(line('GET /a?b=1 HTTP/1.1', 304, AGENT, 'https://example.org/'))).toEqual({
      address: '192.0.2.7',
      at: Date.parse('2015-05-17T06:35:03Z'),
      path: '/a?b=1',
      referrer: 'https://example.org/',
      userAgent: AGENT,
    });
  });

  test.each([
    ['malformed', ''],
    ['malformed', 'GET / HTTP/1.1'],
    ['malformed', line('-')],
    ['malformed', line('\\x16\\x03\\x01', 400)],
    ['malformed', line('GET nowhere HTTP/1.1')],
    ['malformed', line().replace('17/May', '31/Feb')],
    ['malformed', line().replace('200', '2000')],
    ['malformed', `${line()} extra`],
    ['methods', line('POST / HTTP/1.1', 500, 'Googlebot/2.1')],
    ['methods', line('HEAD / HTTP/1.1')],
    ['methods', line('CONNECT example.org:443 HTTP/1.1')],
    ['methods', line('OPTIONS * HTTP/1.0')],
    ['errors', line('GET /style.css HTTP/1.1', 404, 'Googlebot/2.1')],
    ['bots', line('GET /style.css HTTP/1.1', 200, 'Googlebot/2.1 (+http://www.google.com/bot.html)')],
    ['assets', line('GET /STYLE.CSS?v=3 HTTP/1.1')],
    ['assets', line('GET /favicon.ico HTTP/1.1')],
  ])('is skipped: %s (%#)', (reason, text) => {
    expect(parseCombined(text)).toBe(reason);
  });

  test('may hold escapes and a whole address', () => {
    const agent = '\\"Odd\\" \\xc3\\xbc\\\\';
    expect(
      parseCombined(line('GET http://example.org/a?b HTTP/1.1', 200, `${AGENT} ${agent}`)),
    ).toMatchObject({
      path: '/a?b',
      userAgent: `${AGENT} "Odd" ü\\`,
    });
  });

  test('names the user, and may leave out agent and referrer', () => {
    const text = line('GET / HTTP/1.0', 200, '-').replace(' - - [', ' - john smith [');
    expect(parseCombined(text)).toMatchObject({ userAgent: '', referrer: '' });
  });
});

describe('sessions of a log', () => {
  const MINUTE = 60_000;
  const START = Date.parse('2026-01-01T00:00:00Z');
  const request = (minute: number, extra: Partial<LogRequest> = {}): LogRequest => ({
    address: '192.0.2.7',
    at: epochMs(START + minute * MINUTE),
    path: `/${minute}`,
    referrer: `https://r${minute}.example/`,
    userAgent: AGENT,
    ...extra,
  });
  const sessionsOf = (requests: readonly LogRequest[]) => {
    const log = new LogSessions('app');
    for (const one of requests) log.add(one);
    return log.sessions();
  };
  const minutesOf = (requests: readonly LogRequest[]) =>
    sessionsOf(requests).map(({ events }) => events.map(({ path }) => Number(path.slice(1))));

  test('end after more than 30 idle minutes, whatever the order of lines', () => {
    expect(minutesOf([60, 0, 30, 91].map((minute) => request(minute)))).toEqual([[0, 30, 60], [91]]);
  });

  test('last at most 24 hours', () => {
    const minutes = Array.from({ length: 60 }, (_, i) => i * 30);
    expect(minutesOf(minutes.map((minute) => request(minute)))).toEqual([
      minutes.slice(0, 49),
      minutes.slice(49),
    ]);
  });

  test('are those of one address and user agent, with the first referrer', () => {
    const sessions = sessionsOf([
      request(5),
      request(0),
      request(1, { address: '192.0.2.8' }),
      request(2, { userAgent: '' }),
    ]);
    expect(sessions.map(({ context, events }) => [context.referrer, events.length])).toEqual([
      ['https://r0.example/', 2],
      ['https://r1.example/', 1],
      ['https://r2.example/', 1],
    ]);
    expect(new Set(sessions.map(({ visitorId }) => visitorId)).size).toBe(3);
    expect(JSON.stringify(sessions)).not.toContain('192.0.2');
  });

  test('have the same ids in every run', () => {
    expect(sessionsOf([request(0), request(1)])).toEqual(sessionsOf([request(1), request(0)]));
  });
});
