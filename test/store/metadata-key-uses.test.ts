import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { inProcessLocks } from '../../src/domain/locks.ts';
import { epochMs, HOUR_MS, MINUTE_MS, toIso } from '../../src/domain/time.ts';
import { createMetadata } from '../../src/metadata/metadata.ts';
import { deferred } from '../support/deferred.ts';
import { type MetadataBench, metadataBench } from '../support/metadata.ts';

let bench: MetadataBench;

beforeAll(async () => {
  bench = await metadataBench();
});
afterAll(() => bench.close());

const thisMinute = (): string => toIso(epochMs(Math.floor(bench.now() / MINUTE_MS) * MINUTE_MS));

/** A key that was never used. */
async function newKey() {
  const { metadata } = bench;
  const { accountId } = await metadata.createAccount({ name: 'Acme', plan: 'free' });
  const { apiKey, keyId } = await metadata.createKey(accountId, { expiresAt: null });
  const lastUse = async (seenBy = metadata) => (await seenBy.listKeys(accountId))[0]?.lastUsedAt;
  return { accountId, apiKey, keyId, lastUse };
}

test('a use shows at once here, and elsewhere after it was written', async () => {
  const { apiKey, lastUse } = await newKey();
  const other = bench.another();
  expect([await lastUse(), await lastUse(other)]).toEqual([null, null]);
  bench.wait(90_500);
  await bench.metadata.authenticate(apiKey);
  const used = thisMinute();
  expect([await lastUse(), await lastUse(other)]).toEqual([used, null]);
  bench.wait(MINUTE_MS);
  await bench.metadata.writeKeyUses();
  expect([await lastUse(), await lastUse(other)]).toEqual([used, used]);
});

test('the latest use counts, whichever process writes last', async () => {
  const { apiKey, lastUse } = await newKey();
  const other = bench.another();
  await bench.metadata.authenticate(apiKey);
  bench.wait(3 * MINUTE_MS);
  await other.authenticate(apiKey);
  const used = thisMinute();
  await other.writeKeyUses();
  await bench.metadata.writeKeyUses();
  expect([await lastUse(), await lastUse(other), await lastUse(bench.another())]).toEqual([used, used, used]);
});

test('a refused request is no use', async () => {
  const { apiKey, keyId, lastUse } = await newKey();
  expect(await bench.metadata.revokeKey(keyId)).toMatchObject({ lastUsedAt: null });
  expect(await bench.metadata.authenticate(apiKey)).toBeNull();
  expect(await lastUse()).toBeNull();
});

test('any number of requests with any number of keys is one insert, and none if nothing was used', async () => {
  const statements: string[] = [];
  const db = await openDatabase(bench.store.location, {
    onStatement: ({ name }) => statements.push(name),
  });
  const metadata = createMetadata({ db, clock: bench.now, locks: inProcessLocks() });
  try {
    const keys = [await newKey(), await newKey(), await newKey()];
    for (let i = 0; i < 5; i++) for (const { apiKey } of keys) await metadata.authenticate(apiKey);
    for (let i = 0; i < 3; i++) await metadata.writeKeyUses();
    expect(statements.filter((name) => name === 'insert api_key_uses')).toHaveLength(1);
    for (const { lastUse } of keys) expect(await lastUse()).toBe(thisMinute());
  } finally {
    await metadata.close();
    await db.close();
  }
});

test('a store that refuses the write fails no request, and gets the uses with the next write', async () => {
  const { db } = bench.store;
  const { apiKey, lastUse } = await newKey();
  const other = bench.another();
  await bench.metadata.authenticate(apiKey);
  const used = thisMinute();
  await db.command('away', sql`RENAME TABLE api_key_uses TO api_key_uses_away`);
  try {
    await expect(bench.metadata.writeKeyUses()).rejects.toThrow();
    bench.wait(100);
    expect(await bench.metadata.authenticate(apiKey)).not.toBeNull();
  } finally {
    await db.command('back', sql`RENAME TABLE api_key_uses_away TO api_key_uses`);
  }
  await bench.metadata.writeKeyUses();
  expect(await lastUse(other)).toBe(used);
});

test('requests count once while they are being stored, and after an insert whose answer was lost', async () => {
  const { metadata, store } = bench;
  const { accountId, keyId } = await newKey();
  const hour = toIso(epochMs(Math.floor(bench.now() / HOUR_MS) * HOUR_MS));
  const ask = (passes = true): void => metadata.noteRequest({ keyId, accountId }, passes);
  const insert = store.db.insert.bind(store.db);
  const counted = (requests: number) => [{ keyId, hour, requests, limited: 1 }];
  ask(false);
  expect(await metadata.requestsOfKeys(accountId)).toEqual(counted(1));
  const spy = vi.spyOn(store.db, 'insert');
  try {
    const visible = deferred();
    const answered = deferred();
    spy.mockImplementationOnce(async (...args) => {
      await insert(...args);
      visible.resolve();
      await answered.promise;
    });
    const writing = metadata.writeKeyUses();
    await visible.promise;
    ask();
    const meanwhile = metadata.requestsOfKeys(accountId);
    answered.resolve();
    await writing;
    expect(await meanwhile).toEqual(counted(2));
    spy.mockImplementationOnce(async (...args) => {
      await insert(...args);
      throw new Error('lost');
    });
    await expect(metadata.writeKeyUses()).rejects.toThrow('lost');
    expect(await metadata.requestsOfKeys(accountId)).toEqual(counted(2));
    await metadata.writeKeyUses();
    expect(await metadata.requestsOfKeys(accountId)).toEqual(counted(2));
    expect(await bench.another().requestsOfKeys(accountId)).toEqual(counted(2));
  } finally {
    spy.mockRestore();
  }
});
