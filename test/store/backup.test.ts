import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Backup, type Backups, createBackups } from '../../src/backup/backups.ts';
import { assertWhole, restore } from '../../src/backup/restore.ts';
import { type Database, dateTime64, openDatabase, type Query } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { type AccountId, appId } from '../../src/domain/ids.ts';
import { inProcessLocks } from '../../src/domain/locks.ts';
import { epochMs } from '../../src/domain/time.ts';
import { createMetadata, type Metadata } from '../../src/metadata/metadata.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { newDatabase } from '../../src/testing/place.ts';
import { onEachBackend } from '../support/backends.ts';
import { bridgeProcess } from '../support/bridge-process.ts';
import type { SentBatch } from '../support/generate.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { expectAnswers, type TestedApp } from '../support/oracle/compare.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { Play } from '../support/retention.ts';
import { serverStore, type TestStore } from '../support/store.ts';
import { ingestionOn, newApp, REQUEST, SILENT, session, totalsOf } from './ingestion-support.ts';

const clock = () => epochMs(Date.UTC(2026, 10, 22));
const folder = mkdtempSync(join(tmpdir(), 'analytics-backup-'));
afterAll(() => removeFolder(folder));
const newPath = (): string => join(folder, randomUUID());

/** The traffic of two apps, in many small batches. */
const story = randomTraffic({
  seed: 7,
  apps: 2,
  sessions: 100,
  visitors: 60,
  from: Date.UTC(2026, 9, 30),
  days: 3,
  probes: 2,
});
const SMALL = 3;
const batches: readonly SentBatch[] = story.batches.flatMap((batch) =>
  Array.from({ length: Math.ceil(batch.deliveries.length / SMALL) }, (_, i) => ({
    ...batch,
    deliveries: batch.deliveries.slice(i * SMALL, (i + 1) * SMALL),
  })),
);

async function made(backups: Backups, path: string): Promise<Backup> {
  const { id } = backups.begin(path);
  for (;;) {
    const backup = backups.get(id);
    if (backup?.state === 'made') return backup;
    if (backup?.state === 'failed') throw new Error(backup.error ?? '');
    await sleep(10);
  }
}

const SALTS: Query<{ salts: number; secrets: number }> = {
  name: 'salts and secrets',
  sql: sql`SELECT (SELECT toUInt32(count()) FROM ingest_salts) AS salts, (SELECT toUInt32(count()) FROM console_secrets) AS secrets`,
  row: z.object({ salts: z.number(), secrets: z.number() }),
};

const COPIES: Query<{ copies: number }> = {
  name: 'copies',
  sql: sql`SELECT toUInt32(count()) AS copies FROM system.databases WHERE startsWith(name, concat(currentDatabase(), '_backup_'))`,
  row: z.object({ copies: z.number() }),
};

const MARKED: Query<{ batch: string }> = {
  name: 'marked batches',
  sql: sql`SELECT toString(batch_id) AS batch FROM ingest_batches`,
  row: z.object({ batch: z.string() }),
};

const metadataOn = (db: Database): Metadata => createMetadata({ db, clock, locks: inProcessLocks() });

const SEGMENT = { name: 'Phones', segment: 'device==mobile' };
const LINK = { name: 'Board', segment: 'country==IR', origins: ['https://partner.example'], expiresAt: null };

/** Makes what people keep in an account: members, a saved segment, and links to an app, one of them revoked. */
async function heldBy(metadata: Metadata, account: AccountId) {
  await metadata.setMember(account, 'ada@example.com', 'viewer');
  await metadata.saveSegment(account, SEGMENT);
  const { id } = await metadata.addApp(account, { name: 'Shop', domain: 'https://held.example' });
  const revoked = await metadata.createLink(id, LINK);
  await metadata.revokeLink(id, revoked.linkId);
  return { app: id, revoked: revoked.token, token: (await metadata.createLink(id, LINK)).token };
}

async function expectHeld(
  metadata: Metadata,
  account: AccountId,
  { app, revoked, token }: Awaited<ReturnType<typeof heldBy>>,
): Promise<void> {
  expect(await metadata.listMembers(account)).toMatchObject([{ email: 'ada@example.com', role: 'viewer' }]);
  expect(await metadata.listSegments(account)).toMatchObject([SEGMENT]);
  const { name, segment, origins } = LINK;
  const links = await metadata.links.list(app);
  expect(links.toSorted((one, other) => one.state.localeCompare(other.state))).toMatchObject([
    { name, segment, origins, state: 'active' },
    { name, segment, origins, state: 'revoked' },
  ]);
  expect(await metadata.links.authenticate(token)).toMatchObject({ accountId: account, only: { app } });
  expect(await metadata.links.authenticate(revoked)).toBeNull();
}

/** Nobody sends events. */
const idle = { pause: async () => ({ end: async () => undefined }), underway: async () => 0 };

onEachBackend((on) => {
  const opened: Database[] = [];
  /** Another database in the same engine, or a further process on the same one. */
  const open = async ({ location }: TestStore, database = newDatabase()): Promise<Database> => {
    const db = await openDatabase({ ...location, database });
    opened.push(db);
    return db;
  };
  afterAll(async () => {
    for (const db of opened) await db.close();
  });

  test('a backup under ingestion holds each batch wholly or not at all, and all that were acknowledged before', async () => {
    const apps: TestedApp[] = [0, 1].map(() => ({ id: appId(randomUUID()), domain: KNOWN_DOMAIN }));
    const first = await subjectOn(on.db);
    // Another process on a server.
    const second =
      on.db.engine === 'embedded' ? first : await subjectOn(await open(on.store, on.store.location.database));
    const backups = createBackups({ db: on.db, ingestion: first.ingestion, clock, log: SILENT });
    const { accountId } = await metadataOn(on.db).createAccount({ name: 'Acme', plan: 'pro' });
    const { apiKey } = await metadataOn(on.db).createKey(accountId, { expiresAt: null });
    const held = await heldBy(metadataOn(on.db), accountId);
    await on.db.insert('ingest_salts', [{ day: '2026-11-22', salt: 'secret' }]);
    await on.db.insert('console_secrets', [{ name: 'sessions', value: 'secret' }]);
    const sent = batches.map((batch, i) => ({
      ...batch,
      id: randomUUID(),
      by: i % 2 === 0 ? first : second,
    }));
    const acknowledged = new Set<string>();
    const path = newPath();
    let [before, during]: [ReadonlySet<string>, number] = [new Set(), 0];
    let backup: Promise<Backup> | undefined;
    let isOver = false;
    const queue = [...sent];
    const sender = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const app = apps[next.app];
        if (app === undefined) throw new Error('no app');
        await next.by.deliver(app, next.id, next.deliveries);
        acknowledged.add(next.id);
        if (backup !== undefined && !isOver) during++;
        if (backup === undefined && acknowledged.size > sent.length / 4) {
          before = new Set(acknowledged);
          backup = made(backups, path).finally(() => {
            isOver = true;
          });
          backup.catch(() => undefined);
        }
      }
    };
    await Promise.all(Array.from({ length: 6 }, sender));
    const { tables, rows, bytes, pauseMs } = (await backup) as Backup;
    expect(Math.min(tables, rows, bytes, pauseMs)).toBeGreaterThan(0);
    expect(during).toBeGreaterThan(0);
    await first.ingestion.drain();
    await second.ingestion.drain();

    const restored = await open(on.store);
    expect(await restore(restored, path)).toMatchObject({ tables, rows, migrated: [] });
    const marked = new Set((await restored.query(MARKED)).map(({ batch }) => batch));
    expect([...before].filter((id) => !marked.has(id))).toEqual([]);
    const again = await subjectOn(restored);
    const deliveriesOf = (some: typeof sent) =>
      some.flatMap(({ app, deliveries }) =>
        deliveries.map((delivery) => ({
          ...delivery,
          appId: apps[app]?.id ?? appId(randomUUID()),
          appDomain: KNOWN_DOMAIN,
        })),
      );
    await expectAnswers(again, apps, story, deliveriesOf(sent.filter(({ id }) => marked.has(id))));
    await Promise.all(
      sent.map(async ({ app, id, deliveries }) => {
        const { duplicate } = await again.deliver(apps[app] as TestedApp, id, deliveries);
        expect(duplicate).toBe(marked.has(id));
      }),
    );
    await expectAnswers(again, apps, story, deliveriesOf(sent));
    await again.ingestion.drain();
    expect(await metadataOn(restored).authenticate(apiKey)).toMatchObject({ accountId });
    await expectHeld(metadataOn(restored), accountId, held);
    expect(await restored.queryOne(SALTS)).toEqual({ salts: 0, secrets: 0 });
    expect(await on.db.queryOne(COPIES)).toEqual({ copies: 0 });
    expect((await backups.last()).made).toMatchObject({ path, state: 'made', rows, error: null });

    await expect(restore(restored, path)).rejects.toThrow(/^The store is not empty \(\d+ rows in /);
    await expect(made(backups, path)).rejects.toThrow('There is a backup in this folder already');
    expect((await backups.last()).failed).toMatchObject({ path, state: 'failed' });
  });

  test('if a process writes in spite of the pause, the tables are copied again', async () => {
    // A database of its own: writes of other tests that end meanwhile would cost attempts.
    const db = await open(on.store);
    await migrate(db);
    let attempts = 0;
    const heedless = {
      pause: async () => ({ end: async () => undefined }),
      // Asked twice in an attempt, the second time just before the copies.
      underway: async () => {
        attempts++;
        if (attempts === 2) await metadataOn(db).createAccount({ name: 'Meanwhile', plan: 'free' });
        return 0;
      },
    };
    const path = newPath();
    const backups = createBackups({ db, ingestion: heedless, clock, log: SILENT });
    const backup = made(backups, path);
    expect(() => backups.begin(newPath())).toThrow('A backup is being made already.');
    await backup;
    expect(attempts).toBe(4);
    const restored = await open(on.store);
    await restore(restored, path);
    const names = (await metadataOn(restored).listAccounts()).map(({ name }) => name);
    expect(names.filter((name) => name === 'Meanwhile')).toHaveLength(1);
  });

  test('a table that is none of the service is not restored', async () => {
    const path = newPath();
    await on.db.command(
      'foreign',
      sql`CREATE TABLE foreign_rows (a UInt8 DEFAULT 7) ENGINE = MergeTree ORDER BY a`,
    );
    await on.db.command('foreign', sql`INSERT INTO foreign_rows VALUES (1)`);
    await made(createBackups({ db: on.db, ingestion: idle, clock, log: SILENT }), path);
    await on.db.command('foreign', sql`DROP TABLE foreign_rows SYNC`);
    const restored = await open(on.store);
    const { accounts } = await restore(restored, path);
    expect(accounts).toBe((await metadataOn(restored).listAccounts()).length);
    await expect(restored.command('foreign', sql`SELECT 1 FROM foreign_rows`)).rejects.toThrow(
      /foreign_rows/,
    );
  });

  test('no process may use a store whose restore did not end; the restore is repeated', async () => {
    const path = newPath();
    const restored = await open(on.store);
    await expect(restore(restored, path)).rejects.toThrow(/not found/);
    await assertWhole(restored);
    await made(createBackups({ db: on.db, ingestion: idle, clock, log: SILENT }), path);
    await restored.command('as if killed', sql`CREATE TABLE restore_unfinished (a UInt8) ENGINE = Log`);
    await restored.command('as if killed', sql`CREATE TABLE accounts (a UInt8) ENGINE = Log`);
    await expect(assertWhole(restored)).rejects.toThrow(
      /^The restore of a backup into this store did not end/,
    );
    const { accounts } = await restore(restored, path);
    expect(accounts).toBe((await metadataOn(on.db).listAccounts()).length);
    await assertWhole(restored);
  });

  test('no backup is made while a visitor is being erased', async () => {
    const backups = createBackups({ db: on.db, ingestion: idle, clock, log: SILENT });
    const row = { app_id: randomUUID(), erasure_id: randomUUID(), ended: 0, visitor_id: 'v' };
    await on.db.insert('erasures', [row]);
    await expect(made(backups, newPath())).rejects.toThrow(
      'A visitor is being erased. Try again when that has ended.',
    );
    await on.db.insert('erasures', [{ ...row, ended: 1, visitor_id: '' }]);
    expect(await on.db.query(COPIES)).toEqual([{ copies: 0 }]);
  });

  test('a store whose events have expired is restored with its facts and its horizon', async () => {
    const db = await open(on.store);
    await migrate(db);
    const size = { apps: 1, sessions: 60, visitors: 40, days: 5, probes: 4 };
    const expiring = randomTraffic({ ...size, seed: 11, from: Date.UTC(2022, 2, 18) });
    const play = new Play(db, await subjectOn(db), expiring);
    await play.sendAll();
    const step = { sealedDays: 40, expires: null, later: 0, rebuilds: false, repairs: true };
    await play.step({ ...step, expires: 200, later: 1 });
    const { horizon } = await play.horizon();
    expect(horizon).toBeGreaterThan(0);
    const refused = await play.compare();
    const path = newPath();
    await made(createBackups({ db, ingestion: idle, clock, log: SILENT }), path);

    const restored = await open(on.store);
    await restore(restored, path);
    play.goOn(restored, await subjectOn(restored));
    expect(await play.horizon()).toMatchObject({ horizon });
    expect(await play.compare()).toBe(refused);
    await play.step({ ...step, sealedDays: 60 });
    expect(await play.compare()).toBe(refused);
  });

  test('a stopped service ends its backup, also one that waits for a flush', async () => {
    for (const flushes of [0, 1]) {
      const ingestion = { ...idle, underway: async () => flushes };
      const backups = createBackups({ db: on.db, ingestion, clock, log: SILENT });
      const { id } = backups.begin(newPath());
      await backups.close();
      expect(backups.get(id)).toMatchObject({ state: 'failed', error: 'The service was stopped.' });
      expect(await on.db.queryOne(COPIES)).toEqual({ copies: 0 });
    }
  });
});

test('a pause keeps flushes of every process from being stored, and lapses if nobody ends it', async () => {
  const bridge = await bridgeProcess();
  const store = await serverStore(bridge);
  const other = await openDatabase(store.location);
  try {
    const [one, two] = [ingestionOn(store.db), ingestionOn(other)];
    const app = newApp();
    const send = () => two.accept(app, { batchId: randomUUID(), sessions: [session('s')] }, REQUEST);
    const pause = await one.pause();
    let isStored = false;
    const sent = send().then(() => {
      isStored = true;
    });
    const CLAIMS: Query<{ claims: number }> = {
      name: 'claims',
      sql: sql`SELECT toUInt32(count()) AS claims FROM ingest_journal`,
      row: z.object({ claims: z.number() }),
    };
    await expect.poll(async () => (await store.db.queryOne(CLAIMS)).claims).toBe(1);
    expect([isStored, await one.underway()]).toEqual([false, 0]);
    await pause.end();
    await sent;
    expect((await totalsOf(store.db, app.id)).raw).toBe(3);
    // Its process died 21 seconds ago.
    const pausedAt = dateTime64(Date.now() - 21_000);
    await store.db.insert('ingest_pauses', [{ pause_id: randomUUID(), ended: 0, paused_at: pausedAt }]);
    await send();
    await Promise.all([one.drain(), two.drain()]);
  } finally {
    await other.close();
    await store.close();
    await bridge.close();
  }
});
