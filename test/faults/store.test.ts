import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, expectProblem } from '../http/support.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { type Fault, type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { INSIDE, question, type Running, running, type Tenant } from './support.ts';

let bridge: BridgeProcess;
let proxy: FaultProxy;
let service: Running;
let tenant: Tenant;
let neighbour: Tenant;

/** The correct answer to a question. */
const ROWS = [
  { path: '/a', views: 2, uniqueSessions: 1 },
  { path: '/b', views: 1, uniqueSessions: 1 },
];
/** The statement that answers it. */
const PAGEVIEWS = /sum\(r\.sessions\) AS sum1/;

beforeAll(async () => {
  bridge = await bridgeProcess();
  proxy = await faultProxy(bridge.url);
  service = await running({
    CLICKHOUSE_URL: proxy.url,
    CLICKHOUSE_USER: bridge.username,
    CLICKHOUSE_PASSWORD: bridge.password,
  });
  tenant = await service.newTenant();
  neighbour = await service.newTenant();
  expect((await service.record(tenant.app, ['/a', '/a', '/b'])).status).toBe(200);
});
afterAll(async () => {
  await service?.remove();
  await proxy?.close();
  await bridge?.close();
});
beforeEach(recovered);

/** A new question that needs a statement: nothing is kept for questions with a segment. This one matches all sessions. */
const newQuestion = (): string => `${question(tenant.app)}&segment=visitorType%3D%40e`;
const ask = (): Promise<Answer> => service.ask(newQuestion(), { key: tenant.key });
const askNeighbour = (): Promise<Answer> => service.ask(question(neighbour.app), { key: neighbour.key });

/** Expects answers again without a restart. */
async function recovered(): Promise<void> {
  await proxy.set('pass');
  await expect.poll(async () => (await service.ask('/readyz')).status).toBe(200);
  expect(await ask()).toMatchObject({ status: 200, json: ROWS });
}

/** Expects /readyz to fail, at once or after a ping that was underway. */
async function expectNotReady(): Promise<void> {
  await expect.poll(async () => (await service.ask('/readyz')).status).toBe(503);
  expectProblem(await service.ask('/readyz'), 'store_unavailable');
}

function expectRefused(answer: Answer): void {
  expect([500, 503]).toContain(answer.status);
  const { code } = answer.json as { code: 'internal' };
  expectProblem(answer, code);
  expect(['internal', 'store_unavailable', 'overloaded']).toContain(code);
  expect(answer.text).not.toMatch(INSIDE);
}

describe.each<Fault>(['refuse', 'reset', 'lose', 'truncate', 'error-in-200', 'http-500', 'bad-gateway'])(
  '%s',
  (fault) => {
    test('the question is refused without internal details, and answered afterwards', async () => {
      if (fault !== 'refuse') {
        // Only the question fails: the caller and the app are cached.
        await proxy.set(fault, PAGEVIEWS);
        expectRefused(await ask());
        expect((await service.ask('/readyz')).status).toBe(200);
      }
      await proxy.set(fault);
      for (const answer of await Promise.all(Array.from({ length: 8 }, ask))) expectRefused(answer);
      await expectNotReady();
      expect((await service.ask('/healthz')).status).toBe(200);
      await recovered();
    });
  },
);

test('a late answer is an answer', async () => {
  await proxy.set('delay');
  const answers = await Promise.all(Array.from({ length: 8 }, ask));
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, json: ROWS });
});

test.each<Fault>(['hang', 'slow'])('%s: refused in time, not ready meanwhile', async (fault) => {
  expect(await askNeighbour()).toMatchObject({ status: 200, json: [] });
  await proxy.set(fault);
  const ready = expectNotReady();
  // Each question is given up, and a KILL is sent to the store, which hangs too. The KILL must not block
  // later statements.
  const answers = await Promise.all([ask(), ask(), ask(), askNeighbour()]);
  for (const answer of answers) expectProblem(answer, 'store_unavailable');
  await ready;
  expect((await service.ask('/healthz')).status).toBe(200);
  await recovered();
});

/** Resolves when the statements of earlier tests are counted. */
const allGivenUp = () => expect.poll(() => proxy.unanswered).toBe(0);

test('a single hanging question is given up and killed, and delays no other', async () => {
  await allGivenUp();
  await proxy.set('hang', PAGEVIEWS);
  const before = proxy.givenUp;
  const hanging = Array.from({ length: 6 }, ask);
  const other = await service.ask(question(tenant.app, 'timespent'), { key: tenant.key });
  expect(other).toMatchObject({ status: 200, json: [] });
  for (const answer of await Promise.all(hanging)) expectProblem(answer, 'store_unavailable');
  await expect.poll(() => proxy.givenUp).toBeGreaterThanOrEqual(before + 6);
  await expect.poll(() => killed().size).toBeGreaterThanOrEqual(6);
});

test('a caller that leaves ends its question, and no other question is affected', async () => {
  await allGivenUp();
  await proxy.set('hang', PAGEVIEWS);
  const before = proxy.givenUp;
  const alone = leaving(newQuestion());
  const id = await statementOf(alone.path);
  // Its other statements are answered.
  await expect.poll(() => proxy.unanswered).toBe(1);
  alone.leave();
  await expect.poll(() => proxy.givenUp).toBe(before + 1);
  await expect.poll(() => killed().has(id)).toBe(true);

  // Two callers ask one question. It is computed once, and goes on for the caller that stays.
  proxy.delayMs = 3_000;
  await proxy.set('delay', PAGEVIEWS);
  const first = leaving(newQuestion());
  const shared = await statementOf(first.path);
  const asked = snapshots();
  const second = service.ask(first.path, { key: tenant.key });
  // The second caller joins once it knows the app's snapshot: then all statements but the delayed one are
  // answered, and the service has read the answers.
  await expect.poll(snapshots).toBeGreaterThan(asked);
  await expect.poll(() => proxy.unanswered, { interval: 5 }).toBe(1);
  for (let time = 0; time < 2; time++) await service.ask('/healthz');
  const neighbours = askNeighbour();
  first.leave();
  expect(await second).toMatchObject({ status: 200, json: ROWS });
  expect(await neighbours).toMatchObject({ status: 200, json: [] });
  expect(proxy.givenUp).toBe(before + 1);
  expect(killed().has(shared)).toBe(false);
});

test('every statement carries its limits', () => {
  const statements = proxy.requests.filter((text) => text.startsWith('POST') && !/KILL QUERY/.test(text));
  expect(statements.length).toBeGreaterThan(50);
  for (const text of statements.filter(
    (each) => /max_result_rows/.test(each) || /\bSELECT\b.*FORMAT JSON/s.test(each),
  )) {
    for (const limit of ['max_execution_time', 'max_memory_usage', 'max_result_rows', 'max_result_bytes']) {
      expect(text).toContain(limit);
    }
  }
  for (const text of statements.filter((each) => /query=INSERT INTO/.test(each)))
    expect(text).toContain('max_execution_time');
});

/** A request whose caller can leave. */
function leaving(path: string): { readonly path: string; leave(): void } {
  const req = request(service.url + path, { headers: { Authorization: `Bearer ${tenant.key}` } });
  req.on('error', () => undefined);
  req.end();
  return { path, leave: () => void req.destroy() };
}

/** Returns the id of the statement that answers the question, once it runs. */
async function statementOf(path: string): Promise<string> {
  const limit = new URLSearchParams(path).get('limit');
  const find = () =>
    proxy.requests.find(
      (text) => PAGEVIEWS.test(text) && text.includes(`LIMIT ${limit}`) && /query_id=/.test(text),
    );
  await expect.poll(find).toBeDefined();
  return /query_id=([\w-]+)/.exec(find() ?? '')?.[1] ?? 'none';
}

const snapshots = (): number => proxy.requests.filter((text) => /SELECT 'kept'/.test(text)).length;

const killed = (): Set<string> =>
  new Set(
    proxy.requests
      .filter((text) => text.includes('KILL QUERY'))
      .flatMap((text) => /param_id=([\w-]+)/.exec(text)?.[1] ?? []),
  );
