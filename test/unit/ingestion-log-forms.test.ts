import { describe, expect, test } from 'vitest';
import { readerOf, recognise } from '../../src/cli/import/formats.ts';
import { isMalformed } from '../../src/ingestion/access-log.ts';

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
const COMMON = '[17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 203';
const REST = `${COMMON} "-" "${AGENT}"`;
const linesOf = (texts: readonly string[]) => texts.map((text, i) => ({ text, number: i + 1 }));

/** Reads the lines of one file: the address of each, or why it is malformed. */
function addresses(texts: readonly string[], format?: Parameters<typeof readerOf>[0]): string[] {
  const lines = linesOf(texts);
  const reader = format === undefined ? recognise(lines) : readerOf(format);
  return lines.map((line) => {
    const read = reader?.read(line) ?? null;
    if (read === null || 'key' in read || 'skip' in read) return JSON.stringify(read);
    return isMalformed(read) ? `${read.field}: ${read.reason}` : read.address;
  });
}
const address = (text: string): string => addresses([text])[0] ?? '';

describe('a log is read in each of its forms', () => {
  test.each([
    ['common', `198.51.100.1 - - ${COMMON}`],
    ['combined', `198.51.100.1 - - ${REST}`],
    ['main', `198.51.100.1 - john ${REST} "203.0.113.5, 10.0.0.1"`],
    ['vhost_combined', `www.shop.example:443 198.51.100.1 - - ${REST}`],
    ['vhost_combined', `www.shop.example 198.51.100.1 - john smith ${REST}`],
  ] as const)('%s', (format, text) => {
    expect(addresses([text])).toEqual(['198.51.100.1']);
    expect(addresses([text], format)).toEqual(['198.51.100.1']);
    for (const other of ['common', 'combined', 'main', 'vhost_combined'] as const) {
      if (other !== format)
        expect(addresses([text], other)[0]).toMatch(/^(address|after the size|host|user): /);
    }
  });

  test.each([
    ['203.0.113.7:51000', '203.0.113.7'],
    ['[2001:DB8::1]:443', '2001:db8::1'],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['198.51.100.1, 10.0.0.1', '198.51.100.1'],
    ['198.51.100.1,10.0.0.1, 10.0.0.2', '198.51.100.1'],
    ['198.51.100.1:80, [2001:db8::2]:81', '198.51.100.1'],
    ['"198.51.100.1, 10.0.0.1"', '198.51.100.1'],
  ])('with the address %s', (written, expected) => {
    expect(address(`${written} - - ${REST}`)).toBe(expected);
    expect(address(`shop.example:80 ${written} - - ${REST}`)).toBe(expected);
  });

  test('where the hosts are names, a host may be an address, too', () => {
    const [named, numbered] = [
      `shop.example:443 198.51.100.1 - - ${REST}`,
      `203.0.113.9:443 198.51.100.2 - - ${REST}`,
    ];
    expect(addresses([named, named, numbered])).toEqual(['198.51.100.1', '198.51.100.1', '198.51.100.2']);
    expect(addresses([numbered], 'vhost_combined')).toEqual(['198.51.100.2']);
    // One line of a client that calls itself so does not make a host of the other clients' addresses.
    const proxied = `198.51.100.3 10.0.0.1 - - ${REST}`;
    const [claimed, ...others] = addresses([`shop.example 10.0.0.1 - - ${REST}`, proxied, proxied]);
    expect(claimed).toBe('10.0.0.1');
    for (const other of others)
      expect(other).toMatch(/^address: there are several before the time\. .*--format vhost_combined$/);
  });

  test('which may change within a file', () => {
    const texts = [
      `198.51.100.1 - - ${REST}`,
      `shop.example 198.51.100.2 - - ${REST} "-"`,
      `198.51.100.3 - - ${COMMON}`,
    ];
    expect(addresses(texts)).toEqual(['198.51.100.1', '198.51.100.2', '198.51.100.3']);
  });
});

describe('text before the address never becomes the address', () => {
  const line = `198.51.100.1 - - ${REST}`;
  test.each([
    ['syslog (RFC 3164)', `Nov 29 10:00:00 host nginx: ${line}`],
    ['syslog with its priority', `<190>Nov 29 10:00:00 host nginx: ${line}`],
    ['syslog of a host with an address', `Nov 29 10:00:00 10.0.0.5 nginx: ${line}`],
    ['syslog with a process', `Nov 29 10:00:00 host nginx[123]: ${line}`],
    ['syslog (RFC 5424)', `<190>1 2026-11-29T10:00:00Z host nginx - - - ${line}`],
    [
      'syslog (RFC 5424) of a host with an address',
      `<190>1 2026-11-29T10:00:00Z 10.0.0.5 nginx - - - ${line}`,
    ],
    ['a relay', `10.0.0.5 nginx: ${line}`],
    ['a named relay', `relay 10.0.0.5 nginx: ${line}`],
    ['rsyslog', `2026-11-29T10:00:00+00:00 host nginx: ${line}`],
    ['docker compose', `web-1  | ${line}`],
    ['docker compose with one blank', `web-1 | ${line}`],
    ['docker logs -t', `2026-11-29T10:00:00.000000000Z ${line}`],
    ['kubectl --prefix', `[pod/web-5d9/nginx] ${line}`],
    ['kubectl --timestamps', `2026-11-29T10:00:00.000Z stdout F ${line}`],
    ['journald', `Nov 29 10:00:00 host nginx[7]: ${line}`],
    ['grep', `access.log:${line}`],
    ['grep -n', `12:${line}`],
    ['colours', `\u001b[32m${line}`],
    ['bytes', `\u0001\u00ff${line}`],
    ['the end of another line', `/5.0"${line}`],
    ['an absent proxy field', `- ${line}`],
    ['an absent proxy field in a list', `-, ${line}`],
    ['a proxy that hides its client', `unknown, ${line}`],
    ['no address', `- - - ${REST}`],
    ['a name', `client.isp.example - - ${REST}`],
    ['a name in front of a name', `shop.example client.isp.example - - ${REST}`],
    ['a socket', `unix: - - ${REST}`],
    ['numbers', `29 10 - - ${REST}`],
    ['two clients', `198.51.100.7 ${line}`],
    ['nothing', ` - - ${REST}`],
    ['a relay, and a name', `10.0.0.5 nginx: client.isp.example - - ${REST}`, 'user'],
    ['a relay, a name and a user', `10.0.0.5 nginx: client.isp.example - john ${REST}`, 'user'],
    ['a proxy, and a name', `10.0.0.5 - client.isp.example - - ${REST}`, 'user'],
    ['a host, a proxy and a name', `shop.example 10.0.0.5 - client.isp.example - - ${REST}`, 'user'],
  ])('%s', (_, text, field = 'address') => {
    for (const read of addresses([text, text, text])) expect(read.split(': ')[0]).toBe(field);
    // Nor where the other lines are fine.
    const mixed = addresses([line, line, text]);
    expect(mixed.slice(0, 2)).toEqual(['198.51.100.1', '198.51.100.1']);
    expect(mixed[2]?.split(': ')[0]).toBe(field);
    for (const format of ['combined', 'common', 'main'] as const) {
      expect(addresses([text], format)[0]).toMatch(/^(address|after the size|user): /);
    }
  });

  test.each([
    ['client_ip', { client_ip: 'unknown' }],
    ['remote_addr', { remote_addr: '@' }],
    ['none', {}],
  ])("in Caddy's log: %s", (_, request) => {
    const text = JSON.stringify({ ts: 1.5, status: 200, request: { method: 'GET', uri: '/', ...request } });
    expect(address(text)).toMatch(/^address: /);
  });

  test("in CloudFront's log", () => {
    const head = '#Fields: date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent)';
    const log = (ip: string): string =>
      ['2019-12-04', '21:02:31', ip, 'GET', '/', '200', 'Firefox%2F1'].join('\t');
    const read = addresses([
      head,
      log('192.0.2.1'),
      log('edge.example'),
      log('-'),
      `web-1 | ${log('192.0.2.1')}`,
    ]);
    expect(read.slice(2, 5)).toEqual([
      'address: "edge.example" is no address',
      'c-ip: there is none',
      'date and time: they are no time',
    ]);
  });
});

test.each([
  ['time', `198.51.100.1 - - [now] "GET / HTTP/1.1" 200 5`],
  ['time', `198.51.100.1 - - ${REST.replace('17/May', '31/Feb')}`],
  ['quoted request', `198.51.100.1 - - ${REST.replace('"GET', 'GET')}`],
  ['request', `198.51.100.1 - - ${REST.replace('GET /a HTTP/1.1', '-')}`],
  ['request', `198.51.100.1 - - ${REST.replace('GET /a HTTP/1.1', '\\x16\\x03')}`],
  ['status and size', `198.51.100.1 - - ${REST.replace(' 200 ', ' 2000 ')}`],
  ['after the size', `198.51.100.1 - - ${COMMON} "-"`],
  ['after the size', `198.51.100.1 - - ${REST} 0.005`],
  ['after the size', `198.51.100.1 - - ${REST} "-" "-"`],
  ['user', `198.51.100.1 - ${REST}`],
  ['', `198.51.100.1 - - ${REST.replace('/a', `/${'a'.repeat(300_000)}`)}`],
])('a refused line names its field: %s (%#)', (field, text) => {
  const [, refused = ''] = addresses([`198.51.100.1 - - ${REST}`, text]);
  expect(refused.startsWith(`${field}: `), refused).toBe(true);
});

test('a last line that is cut before the user agent is refused, unless the log is common', () => {
  const reader = (texts: readonly string[], cut: string) => {
    const lines = linesOf([...texts, cut]);
    const { read } = recognise(lines) ?? readerOf('combined');
    const found = lines.map((line, i) =>
      read({ ...line, ...(i === texts.length && { isCut: true as const }) }),
    );
    return found.map((one) => one !== null && isMalformed(one) && one.field);
  };
  expect(reader([`198.51.100.1 - - ${REST}`], `198.51.100.1 - - ${COMMON}`)).toEqual([false, 'user agent']);
  expect(reader([`198.51.100.1 - - ${COMMON}`], `198.51.100.1 - - ${COMMON}`)).toEqual([false, false]);
  expect(reader([`198.51.100.1 - - ${REST} "-"`], `198.51.100.1 - - ${REST}`)).toEqual([false, false]);
});
