import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { identifier, sql } from '../../src/clickhouse/sql.ts';
import { accountId, keyId } from '../../src/domain/ids.ts';
import { type EpochMs, epochMs, toIso } from '../../src/domain/time.ts';
import { newApiKey, newAppSecret } from '../../src/metadata/credentials.ts';
import { type MetadataBench, metadataBench } from '../support/metadata.ts';

let bench: MetadataBench;

beforeAll(async () => {
  bench = await metadataBench();
});
afterAll(() => bench.close());

const works = async (apiKey: string, metadata = bench.metadata): Promise<boolean> =>
  (await metadata.authenticate(apiKey)) !== null;

describe('accounts', () => {
  test('are listed, oldest first, with the plan that they have now', async () => {
    const { metadata, wait } = bench;
    const first = await metadata.createAccount({ name: 'First', plan: 'free' });
    wait(1);
    const second = await metadata.createAccount({ name: 'Second', plan: 'pro' });
    // Two changes within one millisecond: the later one counts.
    await metadata.setPlan(first.accountId, 'pro');
    const changed = await metadata.setPlan(first.accountId, 'suspended');
    expect(changed).toEqual({ ...first, plan: 'suspended' });
    const ours = (await metadata.listAccounts()).filter(({ name }) => ['First', 'Second'].includes(name));
    expect(ours).toEqual([changed, second]);
  });

  test('are renamed; the plan stays', async () => {
    const { metadata } = bench;
    const before = await metadata.createAccount({ name: 'Old', plan: 'pro' });
    const renamed = await metadata.renameAccount(before.accountId, 'New');
    expect(renamed).toEqual({ ...before, name: 'New' });
    expect(await bench.another().listAccounts()).toContainEqual(renamed);
  });

  test('a plan change counts at once here and within 5 s elsewhere', async () => {
    const { metadata, wait } = bench;
    const { principal, apiKey } = await bench.account();
    const other = bench.another();
    expect((await other.authenticate(apiKey))?.plan.name).toBe('free');
    await metadata.setPlan(principal.accountId, 'suspended');
    expect((await metadata.authenticate(apiKey))?.plan).toEqual({
      name: 'suspended',
      maxApps: 0,
      analytics: false,
    });
    wait(4_500);
    expect((await other.authenticate(apiKey))?.plan.name).toBe('suspended');
  });

  test('an unknown account is not found', async () => {
    const nobody = accountId(randomUUID());
    const { metadata } = bench;
    for (const call of [
      () => metadata.setPlan(nobody, 'pro'),
      () => metadata.renameAccount(nobody, 'New'),
      () => metadata.deleteAccount(nobody),
      () => metadata.listShares({ account: nobody }),
      () => metadata.createKey(nobody, { expiresAt: null }),
      () => metadata.listKeys(nobody),
      () => metadata.appsOfAccount(nobody),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});

describe('API keys', () => {
  test('authenticate their account', async () => {
    const { principal, apiKey } = await bench.account('pro');
    const [key] = await bench.metadata.listKeys(principal.accountId);
    expect(await bench.metadata.authenticate(apiKey)).toEqual({
      accountId: principal.accountId,
      keyId: key?.keyId,
      plan: { name: 'pro', maxApps: 100, analytics: true },
      actor: `key ${key?.keyId}`,
    });
  });

  test('show a name, and the part of the key that tells it from others', async () => {
    const { metadata } = bench;
    const { accountId } = await metadata.createAccount({ name: 'Acme', plan: 'free' });
    const named = await metadata.createKey(accountId, { name: 'CI', expiresAt: null });
    const nameless = await metadata.createKey(accountId, { expiresAt: null });
    expect(await metadata.listKeys(accountId)).toEqual(
      expect.arrayContaining(
        [
          { ...named, name: 'CI' },
          { ...nameless, name: null },
        ].map(({ apiKey, ...shown }) =>
          expect.objectContaining({ ...shown, prefix: apiKey.slice(0, 'service_api_'.length + 6) }),
        ),
      ),
    );
  });

  test('that are unknown, malformed or of another kind are refused alike', async () => {
    const { apiKey } = await bench.account();
    for (const wrong of [
      newApiKey(),
      newAppSecret(),
      '',
      apiKey.slice(0, -1),
      apiKey.toLowerCase(),
      `${apiKey} `,
    ]) {
      expect(await bench.metadata.authenticate(wrong)).toBeNull();
    }
  });

  test('with an expiry work until then, to the second', async () => {
    const { metadata, wait, now } = bench;
    const { principal } = await bench.account();
    const { apiKey } = await metadata.createKey(principal.accountId, { expiresAt: epochMs(now() + 3_000) });
    const other = bench.another();
    wait(2_999);
    expect([await works(apiKey), await works(apiKey, other)]).toEqual([true, true]);
    wait(1);
    // Cached a millisecond ago, and still refused.
    expect([await works(apiKey), await works(apiKey, other)]).toEqual([false, false]);
  });

  test('are at most 100 at once; revoked and expired ones leave room', { timeout: 60_000 }, async () => {
    const { metadata, wait, now } = bench;
    const { accountId } = await metadata.createAccount({ name: 'Acme', plan: 'free' });
    const create = (expiresAt: EpochMs | null = null) => metadata.createKey(accountId, { expiresAt });
    const { keyId } = await create();
    await create(epochMs(now() + 3_000));
    // 98 have room. Of those that come at once, none is too many.
    const made = await Promise.allSettled(Array.from({ length: 103 }, () => create()));
    const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toEqual(Array(5).fill(expect.objectContaining({ code: 'plan_blocked' })));
    await expect(metadata.rotateKey(keyId, { overlapMs: 1_000, expiresAt: null })).rejects.toMatchObject({
      code: 'plan_blocked',
    });
    wait(3_000);
    await create();
    await expect(create()).rejects.toMatchObject({ code: 'plan_blocked' });
    // Without an overlap the old one leaves room for the new one.
    const { keyId: next } = await metadata.rotateKey(keyId, { overlapMs: 0, expiresAt: null });
    await metadata.revokeKey(next);
    // Of rotations that come at once, one has room.
    const known = await metadata.listKeys(accountId);
    const valid = known.filter(({ revokedAt, replacedBy }) => revokedAt === null && replacedBy === null);
    const rotated = await Promise.allSettled(
      valid.slice(0, 3).map((key) => metadata.rotateKey(key.keyId, { overlapMs: 1_000, expiresAt: null })),
    );
    expect(rotated.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(create()).rejects.toMatchObject({ code: 'plan_blocked' });
  });

  test('cannot be made with an expiry in the past', async () => {
    const { metadata, now } = bench;
    const { principal } = await bench.account();
    const [known] = await metadata.listKeys(principal.accountId);
    const past = { expiresAt: now() };
    const expected = {
      code: 'validation_failed',
      errors: [{ field: 'expiresAt', message: 'Must be in the future.' }],
    };
    await expect(metadata.createKey(principal.accountId, past)).rejects.toMatchObject(expected);
    const id = known?.keyId ?? keyId('');
    await expect(metadata.rotateKey(id, { ...past, overlapMs: 0 })).rejects.toMatchObject(expected);
    expect(await metadata.listKeys(principal.accountId)).toEqual([known]);
  });

  test('are revoked at once here and within 5 s elsewhere', async () => {
    const { metadata, wait } = bench;
    const { principal, apiKey } = await bench.account();
    const other = bench.another();
    expect(await works(apiKey, other)).toBe(true);
    const revoked = await metadata.revokeKey(principal.keyId);
    expect(revoked.state).toBe('revoked');
    expect(await works(apiKey)).toBe(false);
    wait(4_500);
    expect(await works(apiKey, other)).toBe(false);
    expect(await metadata.revokeKey(principal.keyId)).toEqual(revoked);
    expect(await metadata.listKeys(principal.accountId)).toEqual([revoked]);
  });

  test('in constant use are revoked within 5 s', async () => {
    const { metadata, wait } = bench;
    const { principal, apiKey } = await bench.account();
    const other = bench.another();
    await works(apiKey, other);
    wait(1_900);
    await works(apiKey, other);
    await metadata.revokeKey(principal.keyId);
    for (let waited = 0; waited < 4_500; waited += 500) {
      wait(500);
      await works(apiKey, other);
    }
    expect(await works(apiKey, other)).toBe(false);
  });
});

test('the last write counts, even from a process whose clock is behind', async () => {
  const { principal, apiKey } = await bench.account('free');
  const behind = bench.another(-3_600_000);
  await behind.setPlan(principal.accountId, 'suspended');
  expect((await behind.authenticate(apiKey))?.plan.name).toBe('suspended');
  await behind.revokeKey(principal.keyId);
  expect(await works(apiKey, bench.another())).toBe(false);
});

describe('rotating a key', () => {
  const rotated = async (overlapMs: number, expiresInMs: number | null = null) => {
    const { principal, apiKey: old } = await bench.account();
    const expiresAt = expiresInMs === null ? null : epochMs(bench.now() + expiresInMs);
    const { apiKey, keyId: id } = await bench.metadata.rotateKey(principal.keyId, { overlapMs, expiresAt });
    return { account: principal.accountId, oldId: principal.keyId, old, id, apiKey };
  };

  test('gives the new one the name of the old one, which says by what it was replaced', async () => {
    const { metadata } = bench;
    const { accountId } = await metadata.createAccount({ name: 'Acme', plan: 'free' });
    const first = await metadata.createKey(accountId, { name: 'CI', expiresAt: null });
    const input = { overlapMs: 60_000, expiresAt: null };
    bench.wait(1);
    const second = await metadata.rotateKey(first.keyId, input);
    bench.wait(1);
    const third = await metadata.rotateKey(second.keyId, input);
    const shown = (await metadata.listKeys(accountId)).map(({ keyId, name, replacedBy }) => [
      keyId,
      name,
      replacedBy,
    ]);
    expect(shown).toEqual([
      [first.keyId, 'CI', second.keyId],
      [second.keyId, 'CI', third.keyId],
      [third.keyId, 'CI', null],
    ]);
  });

  test('without an overlap stops the old one at once', async () => {
    const { old, apiKey } = await rotated(0);
    expect([await works(old), await works(apiKey)]).toEqual([false, true]);
  });

  test('with an overlap lets the old one live for exactly that long', async () => {
    const { old, apiKey } = await rotated(8_000);
    const other = bench.another();
    bench.wait(7_999);
    expect([await works(old), await works(old, other), await works(apiKey, other)]).toEqual([
      true,
      true,
      true,
    ]);
    bench.wait(1);
    expect([await works(old), await works(old, other), await works(apiKey, other)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('gives the new one the stated expiry, or none', async () => {
    const { account, id, old, oldId, apiKey } = await rotated(60_000, 10_000);
    const keys = await bench.metadata.listKeys(account);
    const ends = Object.fromEntries(keys.map((key) => [key.keyId, key.expiresAt]));
    expect(ends).toEqual({
      [oldId]: toIso(epochMs(bench.now() + 60_000)),
      [id]: toIso(epochMs(bench.now() + 10_000)),
    });
    bench.wait(10_000);
    expect([await works(old), await works(apiKey)]).toEqual([true, false]);
    const again = await bench.metadata.rotateKey(id, { overlapMs: 0, expiresAt: null });
    bench.wait(86_400_000);
    expect(await works(again.apiKey)).toBe(true);
  });

  test('never lengthens the old one’s life', async () => {
    const { metadata, now, wait } = bench;
    const { principal } = await bench.account();
    const expiresAt = epochMs(now() + 5_000);
    const { apiKey, keyId: id } = await metadata.createKey(principal.accountId, { expiresAt });
    await metadata.rotateKey(id, { overlapMs: 60_000, expiresAt: null });
    await metadata.rotateKey(id, { overlapMs: 3_600_000, expiresAt: null });
    wait(5_000);
    expect(await works(apiKey)).toBe(false);
  });

  test('fails for a revoked and an unknown key', async () => {
    const { metadata } = bench;
    const { principal } = await bench.account();
    await metadata.revokeKey(principal.keyId);
    const input = { overlapMs: 0, expiresAt: null };
    await expect(metadata.rotateKey(principal.keyId, input)).rejects.toMatchObject({
      code: 'validation_failed',
    });
    const unknown = keyId(randomUUID());
    await expect(metadata.rotateKey(unknown, input)).rejects.toMatchObject({ code: 'not_found' });
    await expect(metadata.revokeKey(unknown)).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('no table holds a key or a secret', async () => {
  const { metadata, store } = bench;
  const { principal, apiKey } = await bench.account();
  const rotated = await metadata.rotateKey(principal.keyId, { overlapMs: 1_000, expiresAt: null });
  const app = await metadata.createApp(principal, { name: 'Shop', domain: 'https://secrets.example' });
  const { secretKey } = await metadata.rotateSecret(app.id, { overlapMs: 1_000 });
  const tables = await store.db.query({
    name: 'tables',
    sql: sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
    row: z.object({ name: z.string() }),
  });
  expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['api_keys', 'app_secrets', 'apps']));
  for (const { name } of tables) {
    const rows = await store.db.query({
      name,
      sql: sql`SELECT * FROM ${identifier(name)}`,
      row: z.unknown(),
    });
    const text = JSON.stringify(rows);
    for (const secret of [apiKey, rotated.apiKey, app.secretKey, secretKey]) {
      expect(text).not.toContain(secret.slice(-20));
    }
    expect(text).not.toMatch(/service_api_|app_secret_/);
  }
});
