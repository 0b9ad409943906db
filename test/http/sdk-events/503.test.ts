import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BridgeProcess, bridgeProcess } from '../../support/bridge-process.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { type Answer, expectProblem, type TestService, testService } from '../support.ts';
import { batchFor, post, visit } from './support.ts';

let bridge: BridgeProcess;
let proxy: FaultProxy;
let service: TestService;
beforeAll(async () => {
  bridge = await bridgeProcess();
  proxy = await faultProxy(bridge.url);
  service = await testService({
    env: {
      ...bridge.settings,
      CLICKHOUSE_URL: proxy.url,
      MANAGEMENT_JWT_SECRET: 'a secret of at least 32 characters',
    },
  });
});
afterAll(async () => {
  await proxy.set('pass');
  await service.close();
  await proxy.close();
  await bridge.close();
});

/** Statements of ingestion only: credentials are still looked up. */
const INGESTION = /ingest_|INSERT INTO events/;
const lineOf = ({ headers }: Answer) =>
  service.logged().find(({ requestId, status }) => requestId === headers['x-request-id'] && status === 503);
const views = async (path: string): Promise<number | undefined> => {
  const { json } = await service.ask(`/api/v1/sessions/pageviews?appId=${service.app}`);
  return (json as { path: string; views: number }[]).find((item) => item.path === path)?.views;
};

test('a store that does not accept events: a repeated batch is stored once', async () => {
  const batch = batchFor(service, { sessions: [visit('away', '/away')] });
  await proxy.set('http-500', INGESTION);
  const answer = await post(service, batch, { Origin: 'https://shop.example' });
  expectProblem(answer, 'store_unavailable');
  expect(answer.headers['access-control-allow-origin']).toBe('https://shop.example');
  expect(answer.headers['access-control-expose-headers']).toContain('Retry-After');
  expect(answer.text).not.toMatch(/clickhouse|ingest_|DB::Exception/i);
  await expect
    .poll(() => lineOf(answer))
    .toMatchObject({
      level: 'warn',
      msg: 'request failed',
      code: 'store_unavailable',
      appId: service.app,
      step: 'store',
      // The slowest one that failed: the insert, or its rehearsal.
      statement: expect.stringMatching(/^(insert ingest_journal|ingestion: rehearsal)$/),
      lane: 'write',
      state: 'failed',
    });
  // The store has failed for a while: other senders do not wait.
  expectProblem(await post(service, batchFor(service)), 'store_unavailable');
  await proxy.set('pass');
  await expect.poll(async () => (await post(service, batch)).status).toBe(200);
  expect(await views('/away')).toBe(1);
});

test('more than a process can hold is refused', async () => {
  const full = (path: string) => {
    const [{ events, ...rest }] = [visit(randomUUID(), path)];
    return batchFor(service, { sessions: [{ ...rest, events: Array(5_000).fill(events[0]) }] });
  };
  // One app takes three quarters of the buffer. On a cluster, the batches of one shard take half of it.
  const room = service.db.shards.count === 1 ? 30 : 15;
  // It is silent. A store that fails is not waited for after 5 s, and the last batches may come later.
  await proxy.set('hang', INGESTION);
  const answers = await Promise.all(Array.from({ length: 42 }, () => post(service, full('/full'))));
  const codes = answers.map(({ json }) => (json as { code: string }).code);
  expect(codes.filter((code) => code === 'overloaded')).toHaveLength(42 - room);
  expect(codes.filter((code) => code === 'store_unavailable')).toHaveLength(room);
  for (const answer of answers) expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  // Ends the connections that hang.
  await proxy.set('refuse');
  await proxy.set('pass');
  await expect.poll(() => views('/full')).toBe(room * 5_000);
});
