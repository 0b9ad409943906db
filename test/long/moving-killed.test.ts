import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { epochMs } from '../../src/domain/time.ts';
import { createIngestion } from '../../src/ingestion/ingestion.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { afterLease, SILENT } from '../store/ingestion-support.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { withinHalfHour } from '../support/half-hour.ts';
import { bodyOf, isStored, newSite, sessionsOfBatch, Witness } from '../support/moving.ts';
import { type LocalRedis, localRedis } from '../support/redis.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';

const CHILD = fileURLToPath(new URL('../store/moving-child.ts', import.meta.url));
const DATABASE = sql`analytics`;
const VIEW = sql`sessions_from_events`;

/**
 * `at` is the last statement of the dying process; it never arrives. `comesBack` is true if another process
 * later stores the batch. `meanwhile` tells whether answers count it until then.
 */
const STEPS = [
  { at: 'INSERT INTO ingest_journal', comesBack: false, meanwhile: 'without' },
  { at: 'INSERT INTO ingest_verdicts', comesBack: false, meanwhile: 'without' },
  { at: 'INSERT INTO ingest_begun', comesBack: true, meanwhile: 'without' },
  { at: 'INSERT INTO events', comesBack: true, meanwhile: 'without' },
  { at: 'INSERT INTO ledger', comesBack: true, meanwhile: 'either' },
  { at: 'INSERT INTO ledger', withoutView: true, comesBack: true, meanwhile: 'either' },
  { at: 'INSERT INTO ingest_batches', comesBack: true, meanwhile: 'with' },
] as const;

let bridge: BridgeProcess;
let redis: LocalRedis;
let folder: string;
let db: Database;
const processes: ServiceProcess[] = [];
const proxies: FaultProxy[] = [];
const children: ChildProcess[] = [];

const start = (name: string): Promise<ServiceProcess> =>
  serviceProcess({
    CLICKHOUSE_URL: bridge.url,
    CLICKHOUSE_USER: bridge.username,
    CLICKHOUSE_PASSWORD: bridge.password,
    CLICKHOUSE_DATABASE: DATABASE,
    REDIS_URL: redis.url,
    DATA_DIR: join(folder, name),
    MANAGEMENT_JWT_SECRET: 'a secret of at least 32 characters',
    PUBLIC_API_REQUESTS_PER_MINUTE: '1000000',
    PUBLIC_API_REPLICAS: '2',
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-killed-'));
  [bridge, redis] = await Promise.all([bridgeProcess(), localRedis()]);
  processes.push(...(await Promise.all([start('one'), start('two')])));
  const { url, username, password } = bridge;
  db = await openDatabase({ kind: 'server', url, username, password, database: DATABASE });
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([
    ...processes.map((service) => service.kill()),
    ...proxies.map((proxy) => proxy.close()),
  ]);
  await db.close();
  await Promise.all([bridge.close(), redis.close()]);
  removeFolder(folder);
});

/** Kills a process that stores `body` once it has sent the statement. The statement is lost. */
async function killedAt(statement: string, body: string): Promise<void> {
  const proxy = await faultProxy(bridge.url);
  proxies.push(proxy);
  await proxy.set('hang', new RegExp(statement));
  const { username, password } = bridge;
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', CHILD, proxy.url, username, password, DATABASE, body],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  children.push(child);
  const exited = once(child, 'exit');
  await expect
    .poll(() => proxy.requests.some((request) => request.includes(statement)), {
      interval: 20,
    })
    .toBe(true);
  child.kill('SIGKILL');
  expect(await exited).toEqual([null, 'SIGKILL']);
}

/** Lets another process take over flushes that have been open for more than a minute. */
async function takeOver(): Promise<void> {
  const other = createIngestion({ db, clock: () => epochMs(Date.now()), log: SILENT, maxAgeDays: 730 });
  await other.start();
  await afterLease(() => other.sweep());
  await other.drain();
}

test.each(STEPS)(
  'a process that dies at $at leaves no wrong answer and no wrong tag',
  async ({ at, comesBack, meanwhile, ...more }) => {
    const site = await newSite(processes);
    const witness = new Witness(site);
    const [before, lost, after] = [0, 1, 2].map((number) => sessionsOfBatch(site.app, number));
    const [url = ''] = site.urls;
    if (before === undefined || lost === undefined || after === undefined) throw new Error('no batches');
    expect(await isStored(url, bodyOf(site, before))).toBe(true);
    for (const turn of [0, 1]) await witness.expectAll(before, turn);

    if ('withoutView' in more) await db.command('detach', sql`DETACH TABLE ${VIEW}`);
    const died = performance.now();
    await killedAt(at, bodyOf(site, lost));
    if ('withoutView' in more) await db.command('attach', sql`ATTACH TABLE ${VIEW}`);
    const look = async (turn: number, stored: typeof before): Promise<void> => {
      // After a minute, the services complete the flush themselves.
      if (meanwhile === 'either' || performance.now() - died > 30_000) await witness.askAll(turn);
      else await witness.expectAll(meanwhile === 'with' ? [...stored, ...lost] : stored, turn);
    };
    for (const turn of [2, 3]) await look(turn, before);
    expect(await isStored(url, bodyOf(site, after))).toBe(true);
    for (const turn of [4, 5]) await look(turn, [...before, ...after]);

    await takeOver();
    const stored = [...before, ...after, ...(comesBack ? lost : [])];
    for (const turn of [6, 7]) await witness.expectAll(stored, turn);
    expect(witness.wrong).toEqual([]);
    // Nothing is begun and not committed, so the computed answers are cached.
    await withinHalfHour(async () => expect(await witness.computedAgain()).toEqual([]));
  },
);
