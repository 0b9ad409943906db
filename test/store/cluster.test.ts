import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createBackups } from '../../src/backup/backups.ts';
import { restore } from '../../src/backup/restore.ts';
import { openDatabase, type Query } from '../../src/clickhouse/database.ts';
import { quoted, type Sql, sql } from '../../src/clickhouse/sql.ts';
import { AppError } from '../../src/domain/errors.ts';
import { type AccountId, appId } from '../../src/domain/ids.ts';
import { inProcessLocks } from '../../src/domain/locks.ts';
import { seal } from '../../src/facts/pass.ts';
import type { Ingestion } from '../../src/ingestion/ingestion.ts';
import type { Batch } from '../../src/ingestion/wire.ts';
import { createMetadata } from '../../src/metadata/metadata.ts';
import type { SdkApp } from '../../src/metadata/types.ts';
import { archiveOf } from '../../src/transfer/archive.ts';
import { exported } from '../../src/transfer/export.ts';
import { importApp } from '../../src/transfer/import.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { type Case, caseArbitrary } from '../support/generate.ts';
import { expectAgreement, type Subject } from '../support/oracle/compare.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { forAll } from '../support/random.ts';
import { serverStore, type TestStore } from '../support/store.ts';
import {
  ingestionOn,
  NOW,
  REQUEST,
  SILENT,
  sentUntilTaken,
  session,
  stored,
  totalsOf,
} from './ingestion-support.ts';

/* A small part of `npm run test:cluster`, which runs the tests of stores on a cluster of two shards. */

let bridge: BridgeProcess;
let store: TestStore;
beforeAll(async () => {
  bridge = await bridgeProcess(0, 'analytics');
  store = await serverStore({ ...bridge, cluster: 'analytics' });
});
afterAll(async () => {
  await store?.close();
  await bridge?.close();
});

/** Apps from before the cluster: the last digit says on which shard. */
const appOn = (shard: 0 | 1): SdkApp => {
  const id = appId(randomUUID().replace(/.$/, String(shard)));
  expect(store.db.shards.of(id)).toBe(shard);
  return { id, domain: 'https://shop.example' };
};

test('a question that names no app is refused, and one about an app asks its shard alone', async () => {
  const count = (where: Sql): Query<{ rows: number; asked: number }> => ({
    name: 'count',
    sql: sql`SELECT toUInt32(count()) AS rows, any(shardNum()) AS asked FROM ledger ${where}`,
    row: z.object({ rows: z.number(), asked: z.number() }),
  });
  await expect(store.db.query(count(sql``))).rejects.toThrow(/Sharding key .* is not used/);
  const [app, other] = [appOn(1), appOn(0)];
  await expect(store.db.query(count(sql`WHERE app_id != ${quoted(app.id)}`))).rejects.toThrow('is not used');
  for (const [shard, { id }] of [other, app].entries()) {
    const row = { app_id: id, kind: 'event', hour: 0, events: 1, oldest: 0, newest: 0, last_event: 0 };
    await store.db.insert('ledger', [row]);
    expect(await store.db.queryOne(count(sql`WHERE app_id = ${quoted(id)}`))).toEqual({
      rows: 1,
      asked: shard + 1,
    });
  }
});

/** Changes the table that holds the events; the result undoes it. */
async function changed(change: Sql, undo: Sql): Promise<() => Promise<void>> {
  const alter = (how: Sql) =>
    store.db.command('change', sql`ALTER TABLE ${store.db.shards.stored('events')} ${how}`);
  await alter(change);
  return () => alter(undo);
}
const batchOf = (id: string) => ({ batchId: randomUUID(), sessions: [session(id)] });

/** Repeats a batch until the store has accepted or refused it, as a sender does. */
async function insist(ingestion: Ingestion, app: SdkApp, batch: Batch): Promise<'stored' | AppError> {
  try {
    await sentUntilTaken(ingestion, app, batch);
    return 'stored';
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

test('batches of one shard that the store refuses are put aside, and all others are stored', async () => {
  const [one, two, ingestion] = [appOn(0), appOn(1), ingestionOn(store.db)];
  const mend = await changed(sql`ADD CONSTRAINT c CHECK session_id != 'poison'`, sql`DROP CONSTRAINT c`);
  const sent = [one, two].flatMap((app) => ['a', 'poison', 'b'].map((id) => ({ app, batch: batchOf(id) })));
  const answers = await Promise.all(sent.map(({ app, batch }) => insist(ingestion, app, batch)));
  expect(answers.map((answer) => answer === 'stored')).toEqual([true, false, true, true, false, true]);
  for (const { id } of [one, two]) expect(await totalsOf(store.db, id)).toEqual(stored(2, 6));
  const aside = await ingestion.setAside.list();
  expect(new Set(aside.map(({ appId }) => appId))).toEqual(new Set([one.id, two.id]));
  await mend();
  for (const { id } of aside) await ingestion.setAside.repeat(id);
  await ingestion.drain();
  for (const { id } of [one, two]) expect(await totalsOf(store.db, id)).toEqual(stored(3, 9));
  expect(await ingestion.underway()).toBe(0);
});

test('while a shard is away, apps on the other one are stored, and its own are when it is back', async () => {
  const [here, away, ingestion] = [appOn(0), appOn(1), ingestionOn(store.db)];
  // The index fails when a part is written, so it is not the content of the rows that is refused.
  const mend = await changed(
    sql`ADD INDEX away throwIf(app_id = ${quoted(away.id)}, 'away') TYPE minmax`,
    sql`DROP INDEX away`,
  );
  const waiting = batchOf('waiting');
  const answer = insist(ingestion, away, waiting);
  await expect.poll(() => ingestion.underway()).toBe(1);
  for (const id of ['a', 'b']) expect(await insist(ingestion, here, batchOf(id))).toBe('stored');
  expect(await totalsOf(store.db, here.id)).toEqual(stored(2, 6));
  const { waiting: fresh, held } = ingestion.stats();
  expect(fresh.batches + held).toBe(1);
  await mend();
  await ingestion.sweep();
  expect(await answer).toBe('stored');
  await ingestion.drain();
  expect(await totalsOf(store.db, away.id)).toEqual(stored(1, 3));
  expect(await ingestion.setAside.list()).toEqual([]);
});

test('every answer equals a brute-force count when what is ripe was sealed', { timeout: 0 }, async () => {
  const subject = await subjectOn(store.db);
  const beforeQuestions = async (at: Subject): Promise<Subject> => {
    await seal({ db: store.db, only: at.apps() }, at.clock.now);
    return at;
  };
  const agree = async (story: Case) => void (await expectAgreement(subject, story, { beforeQuestions }));
  await forAll(caseArbitrary, agree, { runs: 1 });
});

test('a new app gets an id that names its shard', () => {
  const shards = new Set(Array.from({ length: 40 }, () => store.db.shards.of(store.db.shards.newApp())));
  expect([...shards].sort()).toEqual([0, 1]);
});

test('an app moves to the shard that has a weight, under a new id, and never to one that is not there', async () => {
  const { location } = store;
  if (location.kind !== 'server') throw new Error('a server');
  const weighted = await openDatabase({ ...location, cluster: { name: 'analytics', weights: [0, 1] } });
  const metadata = createMetadata({ db: weighted, clock: () => NOW, locks: inProcessLocks() });
  try {
    const ingestion = ingestionOn(weighted);
    const [from, to] = await Promise.all(
      ['Acme', 'Moved'].map((name) => metadata.createAccount({ name, plan: 'pro' })),
    );
    if (from === undefined || to === undefined) throw new Error('two accounts');
    const app = { ...appOn(0), account: from.accountId, name: 'Shop', createdAt: NOW, secrets: [] };
    await metadata.moving.adopt(app);
    await ingestion.accept(app, batchOf('a'), REQUEST);
    const moved = await metadata.moving.moved(app.id);
    const archive = await buffer(archiveOf(exported({ db: weighted, ingestion }, moved)));
    const importInto = (account: AccountId, file: Buffer, asNew: boolean) =>
      importApp(
        { db: weighted, metadata, ingestion, locks: inProcessLocks(), onErased: () => undefined },
        () => Readable.from([file]),
        { account, asNew, actor: 'operator' },
      );
    const { appId: id } = await importInto(to.accountId, archive, true);
    expect([app.id, id].map(weighted.shards.of)).toEqual([0, 1]);
    for (const each of [app.id, id]) expect(await totalsOf(weighted, each)).toEqual(stored(1, 3));

    const elsewhere = { ...moved, id: appId('00000000-0000-8007-8000-000000000000') };
    const file = await buffer(archiveOf(exported({ db: weighted, ingestion }, elsewhere)));
    await expect(importInto(to.accountId, file, false)).rejects.toThrow(
      'names a shard that this cluster does not have',
    );
  } finally {
    await metadata.close();
    await weighted.close();
  }
});

test('backups are refused with what to do', async () => {
  const ingestion = { pause: async () => ({ end: async () => undefined }), underway: async () => 0 };
  const backups = createBackups({ db: store.db, ingestion, clock: () => NOW, log: SILENT });
  expect(() => backups.begin('/tmp/nowhere')).toThrow(
    'The store is a cluster: make and restore backups with',
  );
  await expect(restore(store.db, '/tmp/nowhere')).rejects.toThrow('The store is a cluster');
});

test('a cluster that does not fit the settings is refused with what to do', async () => {
  const { location } = store;
  if (location.kind !== 'server') throw new Error('a server');
  const refused = (changes: object) => expect(openDatabase({ ...location, ...changes })).rejects;
  await refused({ cluster: { name: 'nowhere' } }).toThrow(
    'knows no cluster nowhere: check CLICKHOUSE_CLUSTER',
  );
  await refused({ cluster: { name: 'analytics', weights: [1] } }).toThrow(
    'CLICKHOUSE_SHARD_WEIGHTS has 1 weights, and the cluster analytics has 2 shards',
  );
  const plain = await openDatabase({ ...location, database: 'plain', cluster: undefined } as never);
  await plain.command('a table', sql`CREATE TABLE events (app_id UUID) ENGINE = Null`);
  await plain.close();
  await refused({ database: 'plain' }).toThrow('was made without CLICKHOUSE_CLUSTER');
});
