import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import { importFiles } from '../../src/cli/import/import.ts';
import { AppError } from '../../src/domain/errors.ts';
import { type AppId, appId } from '../../src/domain/ids.ts';
import { inProcessLocks, type Locks } from '../../src/domain/locks.ts';
import { DAY_MS, epochMs, MINUTE_MS } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import type { Ingestion } from '../../src/ingestion/ingestion.ts';
import { createMetadata, type Metadata } from '../../src/metadata/metadata.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { archiveOf, piecesOf } from '../../src/transfer/archive.ts';
import { exported } from '../../src/transfer/export.ts';
import { BATCHES, COUNTS, CountsPiece, EVENTS, packed, unpacked } from '../../src/transfer/format.ts';
import { type ImportWish, importApp } from '../../src/transfer/import.ts';
import { logTime } from '../support/access-lines.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { randomTraffic } from '../support/generate-traffic.ts';
import { expectAgreement } from '../support/oracle/compare.ts';
import { KNOWN_DOMAIN } from '../support/oracle/known.ts';
import { subjectOn } from '../support/oracle/subject.ts';
import { serverStore, type TestStore, testStore } from '../support/store.ts';
import { ingestionOn, NOW, REQUEST, session } from './ingestion-support.ts';

/*
 * Moves apps from an embedded store to a server that several processes may share.
 */

interface Site {
  readonly store: TestStore;
  readonly metadata: Metadata;
  readonly ingestion: Ingestion;
}

let bridge: BridgeProcess;
let from: Site;
let to: Site;

const siteOn = (store: TestStore): Site => ({
  store,
  metadata: createMetadata({ db: store.db, clock: () => NOW, locks: inProcessLocks() }),
  ingestion: ingestionOn(store.db),
});

beforeAll(async () => {
  bridge = await bridgeProcess(0, '');
  from = siteOn(await testStore());
  to = siteOn(await serverStore(bridge));
});
afterAll(async () => {
  for (const { store, metadata } of [from, to]) {
    await metadata.close();
    await store.close();
  }
  await bridge.close();
});

const newAccount = async ({ metadata }: Site) =>
  (await metadata.createAccount({ name: 'Acme', plan: 'pro' })).accountId;

/** Adds an app to an account of its own. */
async function addApp(site: Site, id: AppId = appId(randomUUID())) {
  const account = await newAccount(site);
  const app = { id, account, name: 'Shop', domain: KNOWN_DOMAIN, createdAt: NOW, secrets: [] };
  const secretKey = await site.metadata.moving.adopt(app);
  return { id, account, domain: KNOWN_DOMAIN, secretKey: secretKey ?? '' };
}

const exportFrom = async ({ store: { db }, metadata, ingestion }: Site, app: AppId): Promise<Buffer> =>
  buffer(archiveOf(exported({ db, ingestion }, await metadata.moving.moved(app))));

const importInto = (
  { store: { db }, metadata, ingestion }: Site,
  archive: Buffer,
  wish: Partial<ImportWish>,
  locks: Locks = inProcessLocks(),
) =>
  importApp({ db, metadata, ingestion, locks, onErased: () => undefined }, () => Readable.from([archive]), {
    account: null,
    asNew: false,
    actor: 'operator',
    ...wish,
  });

const viewsOf = async ({ store: { db } }: Site, app: AppId): Promise<number> => {
  // Without another ingestion: on an embedded store it would take the flushes of this one for a dead process's.
  const views = await steadyAnalytics({ db }).pageviews(app, { from: null, to: null });
  return [...views].reduce((sum, { views: each }) => sum + each, 0);
};

test('every answer is the same in the other store, sealed in part', async () => {
  const start = Date.UTC(2026, 9, 29);
  const story = randomTraffic({
    seed: 7,
    from: start,
    apps: 2,
    sessions: 60,
    visitors: 15,
    days: 5,
    probes: 3,
  });
  const subject = await subjectOn(from.store.db);
  let apps: readonly AppId[] = [];
  await expectAgreement(subject, story, {
    beforeQuestions: async () => {
      apps = subject.apps();
      await seal({ db: from.store.db, only: apps }, epochMs(start + 3 * DAY_MS));
      for (const id of apps) {
        await addApp(from, id);
        await importInto(to, await exportFrom(from, id), { account: await newAccount(to) });
      }
      const moved = await subjectOn(to.store.db);
      moved.begin(apps);
      await seal({ db: to.store.db, only: apps }, epochMs(start + 3 * DAY_MS));
      return moved;
    },
  });
  expect(apps).toHaveLength(2);
});

test('the secret and the identities of batches go with the app', async () => {
  const app = await addApp(from);
  const batch = { batchId: randomUUID(), sessions: [session('s', 3)] };
  await from.ingestion.accept(app, batch, REQUEST);
  const archive = await exportFrom(from, app.id);
  await importInto(to, archive, { account: await newAccount(to) });
  expect(await to.metadata.authenticateApp(app.id, app.secretKey)).toEqual({
    id: app.id,
    domain: app.domain,
  });
  expect(archive.includes(app.secretKey)).toBe(false);
  expect(await to.ingestion.accept(app, batch, REQUEST)).toMatchObject({ accepted: 0, duplicate: true });
  const other = { ...batch, batchId: randomUUID() };
  expect(await to.ingestion.accept(app, other, REQUEST)).toMatchObject({ accepted: 3 });
  expect(await viewsOf(to, app.id)).toBe(6);
});

test('logs that were imported before count once, unless the app gets a new id', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'analytics-transfer-'));
  const file = join(folder, 'access.log');
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
  const line = (minutes: number, path: string): string =>
    `198.51.100.1 - - [${logTime(NOW - DAY_MS + minutes * MINUTE_MS)}] "GET ${path} HTTP/1.1" 200 5 "-" "${agent}"\n`;
  writeFileSync(file, line(0, '/a') + line(0, '/a') + line(5, '/b'));
  const importLog = ({ ingestion }: Site, id: AppId) =>
    importFiles({
      files: [file],
      app: id,
      format: null,
      now: NOW,
      stateRoot: join(folder, randomUUID()),
      send: (body) =>
        ingestion.importHistory({ id, domain: KNOWN_DOMAIN }, JSON.parse(body).sessions, 'visits'),
      patienceMs: 0,
      screen: { isTerminal: false, write: () => undefined },
    });
  const app = await addApp(from);
  expect(await importLog(from, app.id)).toMatchObject({ events: 3, sessions: 1 });
  const archive = await exportFrom(from, app.id);
  await importInto(to, archive, { account: await newAccount(to) });
  // Other files: the visit's end alone, and something new.
  writeFileSync(file, line(5, '/b') + line(9, '/c'));
  expect(await importLog(to, app.id)).toMatchObject({ events: 1, sessions: 1, duplicates: 1 });
  expect(await viewsOf(to, app.id)).toBe(4);
  // The client of a line is another one for each app.
  const renewed = await importInto(to, archive, { account: await newAccount(to), asNew: true });
  expect(await importLog(to, renewed.appId)).toMatchObject({ events: 2, duplicates: 0 });
  removeFolder(folder);
});

test('the retention goes with the app, and with it what was refused before', async () => {
  const app = await addApp(from);
  await from.metadata.setRetention(app.id, 100);
  await from.metadata.setRetention(app.id, 400);
  await importInto(to, await exportFrom(from, app.id), { account: await newAccount(to) });
  const moved = await to.metadata.authenticateApp(app.id, app.secretKey);
  expect(moved?.retention).toMatchObject({ days: 400, acceptedFrom: NOW - 100 * DAY_MS });
});

test('the excluded addresses go with the app', async () => {
  const app = await addApp(from);
  await from.metadata.setExclusions(app.id, ['192.0.2.0/24', '2001:db8::/32']);
  await importInto(to, await exportFrom(from, app.id), { account: await newAccount(to) });
  expect(await to.metadata.exclusionsOf(app.id)).toEqual(await from.metadata.exclusionsOf(app.id));
  const moved = await to.metadata.authenticateApp(app.id, app.secretKey);
  expect(['192.0.2.7', '2001:db8::9', '192.0.3.7'].map((address) => moved?.excludes?.(address))).toEqual([
    true,
    true,
    false,
  ]);
});

test('while events come in, an archive holds whole batches, and their ids', async () => {
  const app = await addApp(from);
  const sent: Promise<unknown>[] = [];
  const send = (): void => {
    const batch = { batchId: randomUUID(), sessions: [session(`s${sent.length}`, 4)] };
    sent.push(from.ingestion.accept(app, batch, REQUEST));
  };
  for (let i = 0; i < 20; i++) send();
  await Promise.all(sent);
  const timer = setInterval(send, 2);
  const archive = await exportFrom(from, app.id);
  clearInterval(timer);
  send();
  await Promise.all(sent);
  let counts: CountsPiece = { events: 0, batches: 0 };
  const ids = new Set<unknown>();
  for await (const { name, bytes } of piecesOf(Readable.from([archive]))) {
    if (name === COUNTS) counts = CountsPiece.parse(JSON.parse(bytes.toString()));
    if (!name.startsWith(BATCHES)) continue;
    for await (const rows of unpacked(name, bytes)) for (const { batch } of rows) ids.add(batch);
  }
  expect(counts.batches).toBeGreaterThanOrEqual(20);
  expect(counts.batches).toBeLessThan(sent.length);
  expect(counts.events).toBe(4 * counts.batches);
  expect(ids.size).toBe(counts.batches);
  expect(await viewsOf(from, app.id)).toBe(4 * sent.length);
});

describe('an import', () => {
  let app: Awaited<ReturnType<typeof addApp>>;
  let archive: Buffer;

  beforeAll(async () => {
    app = await addApp(from);
    await from.ingestion.accept(app, { batchId: randomUUID(), sessions: [session('s', 5)] }, REQUEST);
    archive = await exportFrom(from, app.id);
  });

  test('of a file that was cut or changed is refused, and nothing of it is stored', async () => {
    const account = await newAccount(to);
    const changed = Buffer.from(archive);
    changed.writeUInt8(changed.readUInt8(700) ^ 1, 700);
    const lengths = [0, 100, 512, 1_024, 2_000, archive.length >> 1, archive.length - 2_048];
    for (const file of [
      changed,
      Buffer.from('no archive'),
      ...lengths.map((end) => archive.subarray(0, end)),
    ]) {
      await expect(importInto(to, file, { account }), `${file.length} bytes`).rejects.toMatchObject({
        name: 'BrokenArchive',
      });
    }
    expect(await to.metadata.findApp(app.id)).toBeNull();
    expect(await viewsOf(to, app.id)).toBe(0);
  });

  test.each([
    ['a time that is none', { timestamp: 'soon' }],
    ['a type that there is not', { type: 'visit' }],
    ['a number that is none', { duration_ms: 'long' }],
    ['a place beyond the poles', { latitude: 91 }],
    ['an event more than 24 h after the start of its session', { started_at: '2020-01-01 00:00:00.000' }],
    ['an event of no session', { session_id: '' }],
  ])('of %s is refused, and nothing of it is stored', async (_, change) => {
    const account = await newAccount(to);
    async function* changed() {
      for await (const piece of piecesOf(Readable.from([archive]))) {
        if (piece.name.startsWith(EVENTS)) {
          const all: object[] = [];
          for await (const rows of unpacked(piece.name, piece.bytes)) all.push(...rows);
          const [first, ...rows] = all;
          for await (const { bytes } of packed([...rows, { ...first, ...change }])) yield { ...piece, bytes };
        } else yield piece;
      }
    }
    const file = await buffer(archiveOf(changed()));
    await expect(importInto(to, file, { account })).rejects.toMatchObject({
      name: 'BrokenArchive',
      message: 'line 5 of events/000001.ndjson.gz is wrong',
    });
    expect(await to.metadata.findApp(app.id)).toBeNull();
    expect(await viewsOf(to, app.id)).toBe(0);
  });

  test('needs an account that is there and has room', async () => {
    await expect(importInto(to, archive, {})).rejects.toMatchObject({ code: 'not_found' });
    const taken = await addApp(to);
    await expect(importInto(to, archive, { account: taken.account })).rejects.toMatchObject({
      code: 'domain_conflict',
    });
  });

  test('that was killed is repeated and counts once; then the id is taken', async () => {
    const account = await newAccount(to);
    // A killed import leaves events without an app.
    await to.ingestion.accept(app, { batchId: randomUUID(), sessions: [session('left', 7)] }, REQUEST);
    const imported = await importInto(to, archive, { account });
    expect(imported).toEqual({
      appId: app.id,
      accountId: account,
      name: 'Shop',
      domain: app.domain,
      events: 5,
    });
    expect(await viewsOf(to, app.id)).toBe(5);
    const again = importInto(to, archive, { account: await newAccount(to) });
    await expect(again).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ field: 'file', message: expect.stringContaining('--as-new') }],
    });
    expect(await viewsOf(to, app.id)).toBe(5);
    const [deed] = await to.metadata.listAudit(account);
    expect(deed).toMatchObject({ action: 'app.import', subject: app.id, outcome: 'done' });
  });

  test('that loses its lock ends before its next write, and leaves what its successor stores', async () => {
    let losses = 0;
    for (let isLost = true; isLost; losses++) {
      const wish = { account: await newAccount(to), asNew: true };
      let successor: Promise<unknown> | undefined;
      let calls = 0;
      const losing = async (): Promise<void> => {
        if (calls++ < losses) return;
        successor ??= importInto(to, archive, wish);
        throw new AppError('store_unavailable', 'lost');
      };
      const first = importInto(to, archive, wish, { withLock: (_name, work) => work(losing) });
      const outcome = await first.catch((error: AppError) => error.code);
      isLost = successor !== undefined;
      const imported = isLost ? await successor : outcome;
      if (isLost) expect(outcome).toBe('store_unavailable');
      expect(imported).toMatchObject({ accountId: wish.account, events: 5 });
      expect(await viewsOf(to, (imported as { appId: AppId }).appId)).toBe(5);
    }
    // Once before each part of the archive, the commit and the adoption.
    expect(losses).toBeGreaterThan(5);
  });

  test('as a new app has a new id and a new secret, also where the old one was deleted', async () => {
    await from.metadata.deleteApp(app.id);
    await expect(importInto(from, archive, { account: app.account })).rejects.toMatchObject({
      detail: expect.stringContaining('deleted'),
    });
    const { appId: id, secretKey } = await importInto(from, archive, { account: app.account, asNew: true });
    expect(id).not.toBe(app.id);
    expect(await from.metadata.authenticateApp(id, app.secretKey)).toBeNull();
    expect(await from.metadata.authenticateApp(id, secretKey ?? '')).toEqual({ id, domain: app.domain });
    expect(await viewsOf(from, id)).toBe(5);
  });
});
