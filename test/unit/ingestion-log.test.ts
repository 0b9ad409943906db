import { describe, expect, test } from 'vitest';
import { epochMs } from '../../src/domain/time.ts';
import { isMalformed, type LogLine } from '../../src/ingestion/access-log.ts';
import { parseCaddy } from '../../src/ingestion/caddy-log.ts';
import { cloudFrontFields, parseCloudFront } from '../../src/ingestion/cloudfront-log.ts';
import { ANY_FORM, combinedReader } from '../../src/ingestion/combined-log.ts';
import { LogSessions, logVisitorId, type SessionPart, type Visit } from '../../src/ingestion/log-sessions.ts';

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
const line = (request = 'GET / HTTP/1.1', status = 200, agent = AGENT, referrer = '-'): string =>
  `192.0.2.7 - - [17/May/2015:10:05:03 +0330] "${request}" ${status} 203 "${referrer}" "${agent}"`;

const parseCombined = (text: string): LogLine => combinedReader(ANY_FORM, { hasHost: false })(text);

/** Why a line is no pageview. */
function reasonOf(read: LogLine): string {
  if (isMalformed(read)) return 'malformed';
  return 'skip' in read ? read.skip : '';
}

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
    expect(reasonOf(parseCombined(text))).toBe(reason);
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

describe("a line of Caddy's log", () => {
  const caddy = (extra: object = {}, request: object = {}) => ({
    level: 'info',
    ts: 1646861401.5241024,
    logger: 'http.log.access',
    msg: 'handled request',
    request: {
      remote_ip: '192.0.2.1',
      client_ip: '192.0.2.7',
      method: 'GET',
      uri: '/a?b=1',
      headers: { 'User-Agent': [AGENT], Referer: ['https://example.org/'] },
      ...request,
    },
    status: 200,
    ...extra,
  });

  test('is a pageview', () => {
    expect(parseCaddy(caddy())).toEqual({
      address: '192.0.2.7',
      at: 1646861401524,
      path: '/a?b=1',
      referrer: 'https://example.org/',
      userAgent: AGENT,
    });
  });

  test.each([
    [1646861401524, 1646861401524],
    [1646861401524102400, 1646861401524],
    ['2022-03-09T21:30:01.524Z', 1646861401524],
    ['2022-03-10T01:00:01.524+0330', 1646861401524],
    ['09/Mar/2022:21:30:01 +0000', 1646861401000],
  ])('states its time: %s', (ts, at) => {
    expect(parseCaddy(caddy({ ts }))).toMatchObject({ at });
  });

  test.each([
    ['client_ip', { client_ip: undefined }, '192.0.2.1'],
    ['remote_ip', { client_ip: undefined, remote_ip: undefined, remote_addr: '192.0.2.9:4711' }, '192.0.2.9'],
    ['its brackets', { client_ip: undefined, remote_ip: undefined, remote_addr: '[::1]:4711' }, '::1'],
  ])('of an older version has no %s', (_, request, address) => {
    expect(parseCaddy(caddy({}, request))).toMatchObject({ address });
  });

  test.each([
    ['malformed', caddy({ ts: 'yesterday' })],
    ['malformed', caddy({ ts: 1e300 })],
    ['malformed', caddy({ status: '200' })],
    ['malformed', caddy({ request: null })],
    ['malformed', 7],
    ['methods', caddy({}, { method: 'POST' })],
    ['errors', caddy({ status: 404 })],
    ['bots', caddy({}, { headers: { 'User-Agent': ['Googlebot/2.1'] } })],
    ['assets', caddy({}, { uri: '/style.css' })],
  ])('is skipped: %s (%#)', (reason, value) => {
    expect(reasonOf(parseCaddy(value))).toBe(reason);
  });
});

describe('a line of a CloudFront log', () => {
  const FIELDS =
    '#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query';
  const fields = cloudFrontFields(FIELDS) ?? [];
  const encoded = AGENT.replaceAll(' ', '%20');
  const cloudFront = (values: Readonly<Record<string, string>> = {}) =>
    Object.values({
      date: '2019-12-04',
      time: '21:02:31',
      edge: 'LAX1',
      bytes: '392',
      ip: '192.0.2.100',
      method: 'GET',
      host: 'd111111abcdef8.cloudfront.net',
      stem: '/index.html',
      status: '200',
      referrer: '-',
      agent: encoded,
      query: '-',
      ...values,
    }).join('\t');

  test('is a pageview', () => {
    expect(parseCloudFront(cloudFront({ query: 'a=b', referrer: 'https://example.org/' }), fields)).toEqual({
      address: '192.0.2.100',
      at: Date.parse('2019-12-04T21:02:31Z'),
      path: '/index.html?a=b',
      referrer: 'https://example.org/',
      userAgent: AGENT,
    });
  });

  test('may be encoded twice, or badly', () => {
    const twice = encoded.replaceAll('%', '%25');
    expect(parseCloudFront(cloudFront({ agent: twice }), fields)).toMatchObject({ userAgent: AGENT });
    const referrer = 'https://example.org/50%';
    expect(parseCloudFront(cloudFront({ referrer }), fields)).toMatchObject({ referrer });
  });

  test.each([
    ['malformed', 'no tabs'],
    ['malformed', cloudFront({ date: '2019-13-04' })],
    ['malformed', cloudFront({ ip: '-' })],
    ['malformed', cloudFront({ status: '-' })],
    ['methods', cloudFront({ method: 'PUT' })],
    ['errors', cloudFront({ status: '403' })],
    ['errors', cloudFront({ status: '000' })],
    ['bots', cloudFront({ agent: 'Googlebot/2.1' })],
    ['assets', cloudFront({ stem: '/logo.png' })],
  ])('is skipped: %s (%#)', (reason, text) => {
    expect(reasonOf(parseCloudFront(text, fields))).toBe(reason);
  });

  test('needs the columns of a request', () => {
    expect(cloudFrontFields('#Fields: date time')).toBeNull();
    expect(cloudFrontFields('#Version: 1.0')).toBeNull();
  });
});

describe('sessions of a log', () => {
  const MINUTE = 60_000;
  const START = Date.parse('2026-01-01T00:00:00Z');
  const visit = (minute: number, extra: Partial<Visit> = {}): Visit => ({
    visitorId: 'v',
    at: epochMs(START + minute * MINUTE),
    path: `/${minute}`,
    referrer: `https://r${minute}.example/`,
    userAgent: AGENT,
    ...extra,
  });
  const partsOf = (visits: readonly Visit[]): SessionPart[] => {
    const log = new LogSessions();
    return [...visits.flatMap((one) => log.add(one)), ...log.end()];
  };
  const minutesOf = (visits: readonly Visit[]) =>
    partsOf(visits).map(({ session }) => session.events.map(({ path }) => Number(path.slice(1))));

  test('end after more than 30 idle minutes', () => {
    expect(minutesOf([0, 30, 60, 91].map((minute) => visit(minute)))).toEqual([[0, 30, 60], [91]]);
  });

  test('last at most 24 hours', () => {
    const minutes = Array.from({ length: 60 }, (_, i) => i * 30);
    expect(minutesOf(minutes.map((minute) => visit(minute)))).toEqual([
      minutes.slice(0, 49),
      minutes.slice(49),
    ]);
  });

  test('are those of one visitor, with the first referrer', () => {
    const parts = partsOf([visit(0), visit(1, { visitorId: 'w' }), visit(5)]);
    expect(parts.map(({ session }) => [session.context.referrer, session.events.length])).toEqual([
      ['https://r1.example/', 1],
      ['https://r0.example/', 2],
    ]);
  });

  test('are given out as soon as they are over', () => {
    const log = new LogSessions();
    expect(log.add(visit(0))).toEqual([]);
    expect(log.add(visit(31, { visitorId: 'w' })).map(({ session }) => session.visitorId)).toEqual(['v']);
  });

  test('number equal events, also in the parts of a very long session', () => {
    const parts = partsOf([
      ...Array.from({ length: 20_001 }, () => visit(0)),
      visit(0, { path: '/other' }),
      visit(1, { path: '/0' }),
    ]);
    expect(parts.map(({ isFirst, isLast }) => [isFirst, isLast])).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ]);
    const occurrences = parts.flatMap(({ session }) => session.events.map((event) => event.occurrence ?? 1));
    expect(occurrences).toEqual([...Array.from({ length: 20_001 }, (_, i) => i + 1), 1, 1]);
  });

  test('hold at most 200,000 events back', () => {
    const log = new LogSessions();
    let out = 0;
    for (let i = 0; i < 300_000; i++) {
      const parts = log.add(visit(0, { visitorId: `v${i % 1_000}`, path: `/${i}` }));
      out += parts.reduce((sum, { session }) => sum + session.events.length, 0);
      if (i - out > 200_000) throw new Error(`${i - out} events are held back`);
    }
    const rest = log.end();
    expect(out + rest.reduce((sum, { session }) => sum + session.events.length, 0)).toBe(300_000);
    expect(rest.every(({ isLast }) => isLast)).toBe(true);
  });

  test('of another address, agent or app are those of another visitor, and no id holds an address', () => {
    const ids = [
      logVisitorId('app', '192.0.2.7', AGENT),
      logVisitorId('app', '192.0.2.8', AGENT),
      logVisitorId('app', '192.0.2.7', ''),
      logVisitorId('other', '192.0.2.7', AGENT),
    ];
    expect(new Set(ids).size).toBe(4);
    expect(ids.join()).not.toContain('192.0.2');
  });
});
