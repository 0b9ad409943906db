import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { addressOf } from '../../src/http/request/address.ts';
import { withService } from './operations.ts';
import { batchFor, post, visit } from './sdk-events/support.ts';
import { expectProblem, sendRaw } from './support.ts';

const service = withService({ env: { TRUST_PROXY: '1' } });

/** Spellings of one address, as proxies write them. */
const spellings = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const port = 51_000 + i;
    return [
      `203.0.113.7:${port}`,
      `::ffff:203.0.113.7`,
      `[::FFFF:cb00:7107]:${port}`,
      `198.51.100.${i}, 203.0.113.7:${port}`,
      ' 203.0.113.7 ',
    ][i % 5] as string;
  });
const SIX = ['2001:db8::9', '[2001:DB8:0::9]:51000', '2001:0db8:0000:0000:0000:0000:0000:0009'];

test('wrong credentials from one client count together', async () => {
  const from = (address: string) =>
    service().ask('/api/v1/apps', { key: 'wrong', headers: { 'X-Forwarded-For': address } });
  for (const address of spellings(30)) expectProblem(await from(address), 'unauthorized');
  for (const address of spellings(5)) expectProblem(await from(address), 'too_many_invalid_attempts');
  expectProblem(await from('203.0.113.8'), 'unauthorized');
});

test('one client without an id is one visitor', async () => {
  const { app, ask } = service();
  for (const [i, address] of [...spellings(6), ...SIX].entries()) {
    const { visitorId, ...session } = visit(`of-client-${i}`);
    const headers = { 'X-Forwarded-For': address, 'User-Agent': 'App/1.0' };
    const answer = await post(service(), batchFor(service(), { sessions: [session] }), headers);
    expect(answer.json, `${visitorId} from ${address}`).toEqual({ accepted: 1, rejected: [] });
  }
  const { json } = await ask(`/api/v1/sessions/overview/kpis?appId=${app}`);
  expect(json).toMatchObject({ current: { sessions: 9, visitors: 2 } });
});

test('the log has the one spelling', async () => {
  const { url } = service();
  for (const address of SIX)
    await sendRaw(
      url,
      `GET /healthz HTTP/1.1\r\nX-Forwarded-For: ${address}\r\nUser-Agent: six\r\nConnection: close\r\n\r\n`,
    );
  const logged = service()
    .logged()
    .filter(({ userAgent }) => userAgent === 'six');
  expect(logged.map(({ address }) => address)).toEqual(SIX.map(() => '2001:db8::9'));
});

const request = (remoteAddress: string | undefined, forwarded?: string): IncomingMessage =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

test.each([
  ['::ffff:10.0.0.1', undefined, 0, '10.0.0.1'],
  ['fe80::1%eth0', undefined, 0, 'fe80::1'],
  [undefined, undefined, 0, 'unknown'],
  ['10.0.0.1', '203.0.113.7', 0, '10.0.0.1'],
  ['10.0.0.1', '203.0.113.7:80', 1, '203.0.113.7'],
  ['10.0.0.1', '198.51.100.1, 203.0.113.7:80', 1, '203.0.113.7'],
  ['10.0.0.1', '198.51.100.1, [2001:DB8::1]:80, 10.0.0.2', 2, '2001:db8::1'],
  ['10.0.0.1', '203.0.113.7', 2, '203.0.113.7'],
  ['10.0.0.1', ',203.0.113.7,, ', 1, '203.0.113.7'],
  // What is no address stands for the proxy that says so.
  ['10.0.0.1', '203.0.113.7, unknown', 1, '10.0.0.1'],
  ['10.0.0.1', 'unknown, 10.0.0.2', 2, '10.0.0.2'],
  ['10.0.0.1', '', 1, '10.0.0.1'],
])('of a connection from %s with %s behind %i proxies: %s', (remote, forwarded, proxies, address) => {
  expect(addressOf(request(remote, forwarded), proxies)).toBe(address);
});
