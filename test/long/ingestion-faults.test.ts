import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import type { Ingestion } from '../../src/ingestion/ingestion.ts';
import {
  ingestionOn,
  newApp,
  REQUEST,
  session,
  stored,
  type Totals,
  totalsOf,
} from '../store/ingestion-support.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { byChance } from '../support/chance.ts';
import { type Fault, type FaultProxy, faultProxy } from '../support/fault-proxy.ts';
import { serverStore, type TestStore } from '../support/store.ts';

/** A server store behind a proxy that fails. Two ingestions, as of two processes, write through it. */
let bridge: BridgeProcess;
let proxy: FaultProxy;
/** Without the proxy, to check the stored rows. */
let store: TestStore;
let databases: readonly Database[];
let processes: readonly Ingestion[];

beforeAll(async () => {
  bridge = await bridgeProcess();
  store = await serverStore(bridge);
  proxy = await faultProxy(bridge.url);
  const location = { ...store.location, url: proxy.url };
  databases = await Promise.all([openDatabase(location), openDatabase(location)]);
  processes = databases.map((db) => ingestionOn(db));
  await Promise.all(processes.map((ingestion) => ingestion.start()));
});
afterAll(async () => {
  await proxy.set('pass');
  await Promise.all(processes.map((ingestion) => ingestion.drain()));
  await Promise.all(databases.map((db) => db.close()));
  await store.close();
  await proxy.close();
  await bridge.close();
});

const BATCHES_PER_SENDER = 4;
const EVENTS = 5;

/**
 * Sends batches one after the other. Each goes to all processes at once, and again until one acknowledges it.
 */
async function insist(app: ReturnType<typeof newApp>, name: string): Promise<void> {
  for (let i = 0; i < BATCHES_PER_SENDER; i++) {
    const batch = { batchId: randomUUID(), sessions: [session(`${name}-${i}`, EVENTS)] };
    const sendToAll = () =>
      Promise.allSettled(processes.map((ingestion) => ingestion.accept(app, batch, REQUEST)));
    for (
      let answers = await sendToAll();
      answers.every(({ status }) => status === 'rejected');
      answers = await sendToAll()
    ) {
      await sleep(100);
    }
  }
}

/**
 * Turns a fault on and off until `work` is done, each for a random number of requests, so that slow machines
 * get as many faults as fast ones.
 */
async function under(fault: Fault, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const requests = async (most: number): Promise<void> => {
    const enough = proxy.requests.length + 1 + byChance(most);
    while (!isDone && proxy.requests.length < enough) await sleep(2);
  };
  while (!isDone) {
    await proxy.set(fault);
    // While connections are refused, no request is seen.
    await (fault === 'refuse' ? sleep(byChance(120)) : requests(4));
    await proxy.set('pass');
    await requests(40);
  }
  await done;
}

const FAULTS: readonly Fault[] = [
  'refuse',
  'reset',
  'cut',
  'lose',
  'truncate',
  'delay',
  'http-500',
  'bad-gateway',
];

test.each(FAULTS)('%s: batches that two processes receive at once are stored once', async (fault) => {
  const app = newApp();
  const senders = ['a', 'b', 'c', 'd'];
  await under(fault, Promise.all(senders.map((name) => insist(app, name))));
  const sessions = senders.length * BATCHES_PER_SENDER;
  // A process that has not answered may still be storing; that would only be a repetition.
  await Promise.all(databases.map((db) => db.ping()));
  expect(await totalsOf(store.db, app.id)).toEqual(stored(sessions, sessions * EVENTS));
});

test('a batch that was never acknowledged is stored as a whole or not at all', async () => {
  const app = newApp();
  const batches = Array.from({ length: 30 }, (_, i) => ({
    batchId: randomUUID(),
    sessions: [session(`once-${i}`, EVENTS)],
  }));
  const sending = Promise.allSettled(
    batches.map((batch, i) => processes[i % 2]?.accept(app, batch, REQUEST) ?? Promise.reject()),
  );
  await under('lose', sending);
  const acknowledged = (await sending).filter(({ status }) => status === 'fulfilled').length;
  // A batch that its sender was refused in time may still be underway.
  const isWhole = (totals: Totals): boolean =>
    isDeepStrictEqual(totals, stored(totals.raw / EVENTS, totals.raw));
  await expect.poll(() => totalsOf(store.db, app.id)).toSatisfy(isWhole);
  const { raw } = await totalsOf(store.db, app.id);
  expect(raw % EVENTS).toBe(0);
  expect(raw / EVENTS).toBeGreaterThanOrEqual(acknowledged);
});
