import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { identifier, quoted, sql } from '../../src/clickhouse/sql.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { commitEvents } from '../support/ledger.ts';
import { type MetadataBench, metadataBench, shop } from '../support/metadata.ts';

let bench: MetadataBench;

beforeAll(async () => {
  bench = await metadataBench();
});
afterAll(() => bench.close());

const tablesWith = async (column: string): Promise<string[]> => {
  const statement = sql`SELECT DISTINCT table FROM system.columns
WHERE database = currentDatabase() AND name = ${quoted(column)} AND table NOT LIKE '%from_events'`;
  const tables = await bench.store.db.query({
    name: 'tables',
    sql: statement,
    row: z.object({ table: z.string() }),
  });
  return tables.map(({ table }) => table);
};

/** Returns the tables with rows about the id. */
async function tablesAbout(column: 'account_id' | 'app_id', id: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of await tablesWith(column)) {
    const statement = sql`SELECT count() AS rows FROM ${identifier(table)} WHERE ${identifier(column)} = {id:UUID}`;
    const query = { name: table, sql: statement, row: z.object({ rows: z.int() }) };
    if ((await bench.store.db.queryOne(query, { id })).rows > 0) found.push(table);
  }
  return found.sort();
}

/** An account with a used key, an app with an event, and a share with a guest; another one's app shared with it. */
async function site() {
  const { metadata, store } = bench;
  const { principal: owner, apiKey } = await bench.account('pro');
  const { principal: guest, apiKey: guestKey } = await bench.account('pro');
  const app = await metadata.createApp(owner, shop(`https://${randomUUID()}.example`));
  const guestApp = await metadata.createApp(guest, shop(`https://${randomUUID()}.example`));
  await metadata.shareApp(app.id, guest.accountId);
  await metadata.shareApp(guestApp.id, owner.accountId);
  await metadata.saveSegment(owner.accountId, { name: 'Phones', segment: 'device==mobile' });
  await metadata.setMember(owner.accountId, 'ada@example.com', 'owner');
  await metadata.createInvitation(owner.accountId, 'ada@example.com');
  const link = {
    name: 'Board',
    segment: 'device==mobile',
    origins: ['https://partner.example'],
    expiresAt: null,
  };
  const { token } = await metadata.createLink(app.id, link);
  const [, byGuest] = await Promise.all([
    metadata.saveSegment(guest.accountId, { name: 'Kept', segment: 'device==desktop' }),
    metadata.createLink(guestApp.id, link),
  ]);
  await metadata.writeKeyUses();
  const event = {
    app_id: app.id,
    timestamp: '1763622960.250',
    started_at: '1763622960.250',
    session_id: 's1',
    type: 'pageview',
    path: '/',
  };
  await store.db.insert('events', [event]);
  await commitEvents(store.db, [app.id]);
  return {
    owner: owner.accountId,
    apiKey,
    guest: guest.accountId,
    guestKey,
    app,
    guestApp,
    token,
    guestToken: byGuest.token,
  };
}

const hasAccount = async (id: AccountId, metadata = bench.metadata): Promise<boolean> =>
  (await metadata.listAccounts()).some(({ accountId }) => accountId === id);

test('deleting an account ends it with its apps, and leaves others alone', async () => {
  const { metadata } = bench;
  const { owner, apiKey, guest, guestKey, app, guestApp, token, guestToken } = await site();
  expect(await tablesAbout('app_id', app.id)).toContain('app_links');
  expect(await tablesAbout('account_id', owner)).toEqual([
    'accounts',
    'api_key_uses',
    'api_keys',
    'app_shares',
    'apps',
    'audit_log',
    'console_links',
    'console_members',
    'saved_segments',
  ]);
  await metadata.deleteAccount(owner);
  expect(await tablesAbout('account_id', owner)).toEqual(['deleted_accounts']);
  expect(await tablesAbout('app_id', app.id)).toEqual(['deleted_apps']);
  expect(await metadata.authenticate(apiKey)).toBeNull();
  expect(await metadata.authenticateApp(app.id, app.secretKey)).toBeNull();
  expect(await metadata.links.authenticate(token)).toBeNull();
  expect(await metadata.links.authenticate(guestToken)).toMatchObject({ accountId: guest });
  expect((await metadata.listSegments(guest)).map(({ name }) => name)).toEqual(['Kept']);
  expect(await hasAccount(owner)).toBe(false);
  expect((await metadata.allApps()).map(({ id }) => id)).not.toContain(app.id);
  expect(await metadata.authenticate(guestKey)).not.toBeNull();
  expect((await metadata.appsOfAccount(guest)).map(({ id }) => id)).toEqual([guestApp.id]);
  expect(await metadata.listShares({ app: guestApp.id })).toEqual([]);
});

test('a deleted account gets nothing new, and a repeated deletion succeeds', async () => {
  const { metadata } = bench;
  const { principal, apiKey } = await bench.account('pro');
  const [key] = await metadata.listKeys(principal.accountId);
  await metadata.deleteAccount(principal.accountId);
  const another = bench.another();
  for (const call of [
    () => another.createApp(principal, shop()),
    () => another.createKey(principal.accountId, { expiresAt: null }),
    () => another.rotateKey(key?.keyId ?? principal.keyId, { overlapMs: 0, expiresAt: null }),
    () => another.renameAccount(principal.accountId, 'Again'),
    () => another.setPlan(principal.accountId, 'pro'),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: 'not_found' });
  }
  await metadata.deleteAccount(principal.accountId);
  expect(await another.authenticate(apiKey)).toBeNull();
});

test('rows that are written after the end are erased later: an app, a key, a share', async () => {
  const { metadata, store } = bench;
  const { owner, guestApp } = await site();
  await metadata.deleteAccount(owner);
  // As by a process that checked the account before its end, and went on after it.
  const late = randomUUID();
  const version = 1;
  const made = { account_id: owner, created_at: '1763622960.250', version };
  await store.db.insert('apps', [{ app_id: late, ...made, name: 'Late', domain: 'https://late.example' }]);
  await store.db.insert('api_keys', [{ key_hash: 'late', key_id: late, ...made }]);
  await store.db.insert('app_shares', [{ app_id: guestApp.id, account_id: owner, active: 1, version: 1e15 }]);
  await bench.another().resumeDeletions();
  expect(await tablesAbout('account_id', owner)).toEqual(['deleted_accounts']);
  expect(await tablesAbout('app_id', late)).toEqual(['deleted_apps']);
});

test('a deletion that was interrupted after its first row is finished by another process', async () => {
  const { store } = bench;
  const { owner, apiKey, app } = await site();
  await store.db.insert('deleted_accounts', [
    { account_id: owner, deleted_at: String(bench.now() / 1000), version: 1 },
  ]);
  const restarted = bench.another();
  expect(await restarted.authenticate(apiKey)).toBeNull();
  expect(await hasAccount(owner, restarted)).toBe(false);
  await restarted.resumeDeletions();
  expect(await tablesAbout('account_id', owner)).toEqual(['deleted_accounts']);
  expect(await tablesAbout('app_id', app.id)).toEqual(['deleted_apps']);
});

test('lists of all apps and shares name the accounts', async () => {
  const { metadata } = bench;
  const { owner, guest, app, guestApp } = await site();
  await metadata.renameAccount(owner, 'Owner');
  await metadata.renameAccount(guest, 'Guest');
  const names = { name: 'Shop', domain: app.domain, createdAt: app.createdAt };
  expect(await metadata.allApps()).toContainEqual({
    id: app.id,
    ...names,
    accountId: owner,
    accountName: 'Owner',
  });
  const share = {
    appId: app.id,
    appName: 'Shop',
    domain: app.domain,
    ownerId: owner,
    ownerName: 'Owner',
    accountId: guest,
    accountName: 'Guest',
  };
  expect(await metadata.listShares({ app: app.id })).toEqual([share]);
  expect(await metadata.listShares({ account: guest })).toEqual([share]);
  expect((await metadata.listShares()).map(({ appId }) => appId)).toEqual(
    expect.arrayContaining([app.id, guestApp.id]),
  );
  await metadata.unshareApp(app.id, guest);
  expect(await metadata.listShares({ app: app.id })).toEqual([]);
});
