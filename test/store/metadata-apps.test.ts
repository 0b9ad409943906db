import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { accountId, appId } from '../../src/domain/ids.ts';
import { toIso } from '../../src/domain/time.ts';
import { newAppSecret } from '../../src/metadata/credentials.ts';
import { createMetadata } from '../../src/metadata/metadata.ts';
import { type MetadataBench, metadataBench, shop } from '../support/metadata.ts';

let bench: MetadataBench;

beforeAll(async () => {
  bench = await metadataBench();
});
afterAll(() => bench.close());

describe('creating an app', () => {
  test('returns it with its secret, once, and lists it', async () => {
    const { metadata, now, wait } = bench;
    const { principal } = await bench.account();
    const { secretKey, ...first } = await metadata.createApp(principal, shop());
    expect(first).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Shop',
      domain: 'https://shop.example',
      access: 'owner',
      createdAt: toIso(now()),
    });
    expect(secretKey).toMatch(/^app_secret_[0-9A-Za-z]{40}$/);
    wait(5);
    const { secretKey: _, ...second } = await metadata.createApp(principal, shop('http://localhost:3000'));
    expect(await metadata.listApps(principal.accountId)).toEqual([first, second]);
    expect(await metadata.canRead(principal.accountId, first.id)).toBe(true);
    // Another process lists it without delay.
    expect(await bench.another().listApps(principal.accountId)).toEqual([first, second]);
  });

  test('refuses a host and port twice in one account, whatever the scheme', async () => {
    const { metadata } = bench;
    const { principal } = await bench.account('pro');
    await metadata.createApp(principal, shop('https://a.example'));
    const again = metadata.createApp(principal, shop('http://a.example'));
    await expect(again).rejects.toMatchObject({ code: 'domain_conflict', status: 409 });
    await metadata.createApp(principal, shop('https://a.example:8443'));
    const { principal: other } = await bench.account();
    await metadata.createApp(other, shop('https://a.example'));
  });

  test('of one domain 20 times at once makes exactly one', async () => {
    const { principal } = await bench.account('pro');
    const processes = [bench.metadata, bench.another()];
    const attempts = Array.from({ length: 20 }, (_, i) =>
      (processes[i % 2] ?? bench.metadata).createApp(
        principal,
        shop(`http${i % 3 ? 's' : ''}://race.example`),
      ),
    );
    const results = await Promise.allSettled(attempts);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'domain_conflict' });
    }
    expect(await bench.metadata.listApps(principal.accountId)).toHaveLength(1);
  });

  test('beyond the plan’s number is blocked, also in parallel, and before conflicts are checked', async () => {
    const { metadata } = bench;
    const { principal } = await bench.account('free');
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => metadata.createApp(principal, shop(`https://a${i}.example`))),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    const blocked = { code: 'plan_blocked', status: 403 };
    await expect(metadata.createApp(principal, shop('https://a0.example'))).rejects.toMatchObject(blocked);
    const [first] = await metadata.listApps(principal.accountId);
    await metadata.deleteApp(first?.id ?? appId(''));
    await metadata.createApp(principal, shop('https://a0.example'));
  });

  test('begins with the retention of the plan, which another plan later does not change', async () => {
    const metadata = bench.another(0, { free: 30 });
    const { principal } = await bench.account('free');
    const limited = await metadata.createApp(principal, shop());
    await metadata.setPlan(principal.accountId, 'pro');
    const unlimited = await metadata.createApp(principal, shop('https://other.example'));
    expect(await metadata.authenticateApp(limited.id, limited.secretKey)).toMatchObject({
      retention: { days: 30, acceptedFrom: 0 },
    });
    expect(await metadata.retentionOf(limited.id)).toMatchObject({ days: 30 });
    expect(await metadata.retentionOf(unlimited.id)).toMatchObject({ days: null });
  });

  test('is blocked for a suspended account, by the plan it has now', async () => {
    const { metadata } = bench;
    const { principal } = await bench.account('pro');
    await metadata.setPlan(principal.accountId, 'suspended');
    const attempt = metadata.createApp(principal, shop('https://late.example'));
    await expect(attempt).rejects.toMatchObject({ code: 'plan_blocked' });
    await metadata.setPlan(principal.accountId, 'free');
    await metadata.createApp(principal, shop('https://late.example'));
  });
});

describe('an app’s secret', () => {
  test('is accepted with its own app’s id alone', async () => {
    const { metadata } = bench;
    const { principal } = await bench.account();
    const { id, secretKey } = await metadata.createApp(principal, shop('https://one.example'));
    const other = await metadata.createApp(principal, shop('https://two.example'));
    const sdkApp = { id, domain: 'https://one.example' };
    expect(await metadata.authenticateApp(id, secretKey)).toEqual(sdkApp);
    expect(await metadata.authenticateApp(id.toUpperCase(), secretKey)).toEqual(sdkApp);
    expect(await metadata.findApp(id)).toEqual(sdkApp);
    for (const [app, secret] of [
      [other.id, secretKey],
      [randomUUID(), secretKey],
      ['', secretKey],
      [id, ''],
      [id, newAppSecret()],
      [id, `${secretKey}x`],
      [`${id}' OR 1`, secretKey],
    ] as const) {
      expect(await metadata.authenticateApp(app, secret)).toBeNull();
    }
  });

  test('is rotated with an overlap, and each earlier one keeps its own end', async () => {
    const { metadata, wait } = bench;
    const { principal } = await bench.account();
    const { id, secretKey: a } = await metadata.createApp(principal, shop());
    const { secretKey: b } = await metadata.rotateSecret(id, { overlapMs: 10_000 });
    wait(4_000);
    const { secretKey: c } = await metadata.rotateSecret(id, { overlapMs: 20_000 });
    const other = bench.another();
    const working = async (): Promise<string> => {
      const both = [metadata, other].map(async (one) => {
        const found = [a, b, c].map(async (secret) => ((await one.authenticateApp(id, secret)) ? '1' : '0'));
        return (await Promise.all(found)).join('');
      });
      const [here, there] = await Promise.all(both);
      expect(there).toBe(here);
      return here ?? '';
    };
    wait(5_999);
    expect(await working()).toBe('111');
    wait(1);
    expect(await working()).toBe('011');
    wait(14_000);
    expect(await working()).toBe('001');
    const { secretKey: d } = await metadata.rotateSecret(id, { overlapMs: 0 });
    expect(await metadata.authenticateApp(id, c)).toBeNull();
    wait(4_500);
    expect(await working()).toBe('000');
    expect(await metadata.authenticateApp(id, d)).not.toBeNull();
  });

  test('of an unknown app cannot be rotated', async () => {
    const attempt = bench.metadata.rotateSecret(appId(randomUUID()), { overlapMs: 0 });
    await expect(attempt).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('sharing', () => {
  test('gives and takes reading and the row in the list, within 5 s elsewhere', async () => {
    const { metadata, wait } = bench;
    const { principal: owner } = await bench.account();
    const { principal: guest } = await bench.account();
    const app = await metadata.createApp(owner, shop());
    const other = bench.another();
    const sees = async (one = metadata) => [
      await one.canRead(guest.accountId, app.id),
      (await one.listApps(guest.accountId)).map(({ id, access }) => `${access} ${id}`),
    ];
    expect([await sees(), await sees(other)]).toEqual([
      [false, []],
      [false, []],
    ]);
    for (let round = 0; round < 2; round++) {
      await metadata.shareApp(app.id, guest.accountId);
      await metadata.shareApp(app.id, guest.accountId);
      expect(await sees()).toEqual([true, [`shared ${app.id}`]]);
      wait(4_500);
      expect(await sees(other)).toEqual([true, [`shared ${app.id}`]]);
      await metadata.unshareApp(app.id, guest.accountId);
      expect(await sees()).toEqual([false, []]);
      wait(4_500);
      expect(await sees(other)).toEqual([false, []]);
    }
    expect(await metadata.canRead(owner.accountId, app.id)).toBe(true);
  });

  test('needs an app, another account, and something to end', async () => {
    const { metadata } = bench;
    const { principal: owner } = await bench.account();
    const { principal: guest } = await bench.account();
    const app = await metadata.createApp(owner, shop());
    const code = (call: Promise<unknown>): Promise<string> =>
      call.then(
        () => 'none',
        (error: unknown) => (error instanceof AppError ? error.code : String(error)),
      );
    expect(await code(metadata.shareApp(appId(randomUUID()), guest.accountId))).toBe('not_found');
    expect(await code(metadata.shareApp(app.id, accountId(randomUUID())))).toBe('not_found');
    expect(await code(metadata.shareApp(app.id, owner.accountId))).toBe('validation_failed');
    expect(await code(metadata.unshareApp(app.id, guest.accountId))).toBe('not_found');
    expect(await metadata.canRead(guest.accountId, app.id)).toBe(false);
    expect(await metadata.canRead(owner.accountId, appId(randomUUID()))).toBe(false);
  });
});

test('a process that lost its lock changes nothing', async () => {
  const { principal, apiKey } = await bench.account('pro');
  const { metadata, store, now } = bench;
  const app = await metadata.createApp(principal, shop('https://kept.example'));
  const { principal: guest } = await bench.account();
  const lost = new AppError('store_unavailable', 'lost');
  const late = createMetadata({
    db: store.db,
    clock: now,
    elapsed: now,
    locks: { withLock: (_, work) => work(() => Promise.reject(lost)) },
  });
  const before = await metadata.listApps(principal.accountId);
  const account = await metadata.findAccount(principal.accountId);
  for (const change of [
    () => late.createApp(principal, shop('https://new.example')),
    () => late.rotateSecret(app.id, { overlapMs: 0 }),
    () => late.rotateKey(principal.keyId, { overlapMs: 0, expiresAt: null }),
    () => late.shareApp(app.id, guest.accountId),
    () => late.setRetention(app.id, 30),
    () => late.renameAccount(principal.accountId, 'Late'),
  ]) {
    await expect(change()).rejects.toBe(lost);
  }
  await late.close();
  const other = bench.another();
  expect(await other.listApps(principal.accountId)).toEqual(before);
  expect(await other.authenticateApp(app.id, app.secretKey)).not.toBeNull();
  expect(await other.authenticate(apiKey)).not.toBeNull();
  expect(await other.listApps(guest.accountId)).toEqual([]);
  expect((await other.retentionOf(app.id)).days).toBeNull();
  expect(await other.findAccount(principal.accountId)).toEqual(account);
});
