import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { inProcessLocks } from '../../src/domain/locks.ts';
import { epochMs } from '../../src/domain/time.ts';
import { createMetadata, type Metadata } from '../../src/metadata/metadata.ts';
import type { CreatedApp, Principal } from '../../src/metadata/types.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { shop } from '../support/metadata.ts';
import { serverStore, type TestStore } from '../support/store.ts';

/** Two processes on one store: `elsewhere` has to see the changes that `here` writes. */
let bridge: BridgeProcess;
let store: TestStore;
let db: Database;
let here: Metadata;
let elsewhere: Metadata;
/** The statements of `elsewhere`. */
let statements: string[] = [];
let now = 0;

const LOOK = 'fingerprints of metadata';
const clock = () => epochMs(Date.now());

beforeAll(async () => {
  bridge = await bridgeProcess();
  store = await serverStore(bridge);
  db = await openDatabase(store.location, { onStatement: ({ name }) => statements.push(name) });
  // The test starts each look for changes.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const locks = inProcessLocks();
  here = createMetadata({ db: store.db, clock, locks });
  elsewhere = createMetadata({ db, clock, locks, elapsed: () => now });
});
afterAll(async () => {
  await Promise.all([here?.close(), elsewhere?.close()]);
  vi.useRealTimers();
  await db?.close();
  await store?.close();
  await bridge?.close();
});

/** Starts a look. Resolves when it has ended, and the changed values are being read. */
async function look(): Promise<void> {
  const looks = (): number => statements.filter((name) => name === LOOK).length;
  const before = looks();
  vi.advanceTimersByTime(2_000);
  // Not by expect.poll: between its attempts it moves the faked clock on, which starts more looks.
  while (looks() === before) await sleep(5);
  await turn();
}

interface Tenant {
  readonly owner: Principal;
  readonly guest: Principal;
  readonly ownerKey: string;
  readonly guestKey: string;
  readonly app: CreatedApp;
}

async function newTenant(): Promise<Tenant> {
  const account = async () => {
    const { accountId } = await here.createAccount({ name: 'Acme', plan: 'pro' });
    const { apiKey } = await here.createKey(accountId, { expiresAt: null });
    const principal = await here.authenticate(apiKey);
    if (principal === null) throw new Error('a new key is not accepted');
    return { principal, apiKey };
  };
  const [owner, guest] = [await account(), await account()];
  const app = await here.createApp(owner.principal, shop());
  await here.shareApp(app.id, guest.principal.accountId);
  return {
    owner: owner.principal,
    guest: guest.principal,
    ownerKey: owner.apiKey,
    guestKey: guest.apiKey,
    app,
  };
}

/** Returns the result of every look-up of a request. */
async function seen({ owner, guest, ownerKey, guestKey, app }: Tenant): Promise<object> {
  return {
    owner: (await elsewhere.authenticate(ownerKey))?.plan.name ?? null,
    guest: (await elsewhere.authenticate(guestKey))?.plan.name ?? null,
    own: await elsewhere.canRead(owner.accountId, app.id),
    shared: await elsewhere.canRead(guest.accountId, app.id),
    sdk: (await elsewhere.authenticateApp(app.id, app.secretKey)) !== null,
    excluded: (await elsewhere.findApp(app.id))?.excludes?.('192.0.2.7') ?? false,
  };
}

const ALL = { owner: 'pro', guest: 'pro', own: true, shared: true, sdk: true, excluded: false };

/** A tenant that `elsewhere` has cached, as after some polls. */
async function known(): Promise<Tenant> {
  const tenant = await newTenant();
  expect(await seen(tenant)).toEqual(ALL);
  await look();
  await expect
    .poll(async () => {
      statements = [];
      await seen(tenant);
      return statements;
    })
    .toEqual([]);
  return tenant;
}

const CHANGES: Record<string, readonly [(tenant: Tenant) => Promise<unknown>, object]> = {
  'excluded addresses': [({ app }) => here.setExclusions(app.id, ['192.0.2.0/24']), { excluded: true }],
  'a revocation': [({ owner }) => here.revokeKey(owner.keyId), { owner: null }],
  'a rotated key': [
    ({ guest }) => here.rotateKey(guest.keyId, { overlapMs: 0, expiresAt: null }),
    { guest: null },
  ],
  'another plan': [({ owner }) => here.setPlan(owner.accountId, 'suspended'), { owner: 'suspended' }],
  'the end of a share': [({ guest, app }) => here.unshareApp(app.id, guest.accountId), { shared: false }],
  'another secret': [({ app }) => here.rotateSecret(app.id, { overlapMs: 0 }), { sdk: false }],
  'a deleted account': [
    ({ owner }) => here.deleteAccount(owner.accountId),
    { owner: null, own: false, shared: false, sdk: false },
  ],
  'a deleted guest': [({ guest }) => here.deleteAccount(guest.accountId), { guest: null, shared: false }],
  'a deleted app': [({ app }) => here.deleteApp(app.id), { own: false, shared: false, sdk: false }],
};

test('a caller that polls every 30 s waits for no look-up', async () => {
  const tenant = await known();
  for (let poll = 0; poll < 3; poll++) {
    for (let s = 0; s < 30; s += 2) {
      now += 2_000;
      await look();
    }
    statements = [];
    expect(await seen(tenant)).toEqual(ALL);
    expect(statements).toEqual([]);
  }
});

test.each(Object.entries(CHANGES))('%s shows elsewhere after the next look', async (_, [change, effect]) => {
  const tenant = await known();
  const neighbour = await known();
  await change(tenant);
  now += 2_000;
  await look();
  await expect.poll(() => seen(tenant)).toEqual({ ...ALL, ...effect });
  expect(await seen(neighbour)).toEqual(ALL);
});

test('cached values end within 4.5 s if no look is answered', async () => {
  const changed: { name: string; tenant: Tenant; effect: object }[] = [];
  for (const [name, [, effect]] of Object.entries(CHANGES))
    changed.push({ name, tenant: await known(), effect });
  await look();
  for (const { name, tenant } of changed) await CHANGES[name]?.[0](tenant);
  bridge.hang();
  let late: Promise<void> | undefined;
  try {
    now += 4_499;
    for (const { name, tenant } of changed) expect(await seen(tenant), name).toEqual(ALL);
    now += 1;
    late = look();
    await Promise.all(
      changed.map(({ name, tenant }) =>
        expect(seen(tenant), name).rejects.toMatchObject({ code: 'store_unavailable' }),
      ),
    );
  } finally {
    bridge.resume();
    await late;
  }
  for (const { name, tenant, effect } of changed)
    await expect.poll(() => seen(tenant), { message: name }).toEqual({ ...ALL, ...effect });
});
