import { randomUUID } from 'node:crypto';
import { mkdtempSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CliError } from '../../../src/cli/cli-error.ts';
import { appId } from '../../../src/domain/ids.ts';
import { managementSecretFile } from '../../../src/management/secret.ts';
import { removeFolder } from '../../../src/remove-folder.ts';
import { adminOf } from '../../support/admin.ts';
import {
  type CommandResult,
  type ManagedService,
  managedService,
  runAdmin,
} from '../../support/management.ts';
import { batchFor } from '../sdk-events/support.ts';

let service: ManagedService;

beforeAll(async () => {
  service = await managedService();
});
afterAll(() => service.close());

/** Runs a command that succeeds, and returns its one JSON document. */
async function admin<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await service.admin(args);
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

/** Returns the one line of a command that failed. */
function lineOf({ code, stdout, stderr }: CommandResult): string {
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  return stderr.trim();
}

const accepted = async (key: string): Promise<boolean> =>
  (await fetch(`${service.url}/api/v1/apps`, { headers: { Authorization: `Bearer ${key}` } })).status === 200;

test('only the owner can read the secret in the data folder', () => {
  expect(statSync(managementSecretFile(service.dataDir)).mode & 0o777).toBe(0o600);
});

test('every command works on the running service', async () => {
  const { accountId } = await admin<{ accountId: string }>('account', 'create', '--name', 'Acme شرکت');
  const guest = await admin<{ accountId: string }>('account', 'create', '--name', 'Guest', '--plan', 'pro');
  expect(await admin('account', 'set-plan', '--account', accountId, '--plan', 'pro')).toMatchObject({
    plan: 'pro',
  });
  expect(await admin('account', 'list')).toMatchObject([
    { accountId, name: 'Acme شرکت', plan: 'pro' },
    { accountId: guest.accountId, name: 'Guest', plan: 'pro' },
  ]);

  type Key = { keyId: string; apiKey: string };
  const first = await admin<Key>(
    'key',
    'create',
    '--account',
    accountId,
    '--expires',
    '2100-01-01T00:00:00Z',
  );
  expect(first).toEqual({
    keyId: expect.any(String),
    apiKey: expect.stringMatching(/^service_api_[0-9A-Za-z]{46}$/),
  });
  const second = await admin<Key>('key', 'rotate', '--key', first.keyId, '--overlap', '24h');
  expect([await accepted(first.apiKey), await accepted(second.apiKey)]).toEqual([true, true]);
  const third = await admin<Key>('key', 'rotate', '--key', second.keyId, '--expires', '2100-01-01T00:00:00Z');
  expect([await accepted(second.apiKey), await accepted(third.apiKey)]).toEqual([false, true]);
  await admin('key', 'revoke', '--key', first.keyId);
  expect(await accepted(first.apiKey)).toBe(false);
  expect(await admin('key', 'list', '--account', accountId)).toMatchObject([
    { keyId: first.keyId, state: 'revoked' },
    { keyId: second.keyId, state: 'expired' },
    { keyId: third.keyId, state: 'active', expiresAt: '2100-01-01T00:00:00.000Z' },
  ]);

  const created = await fetch(`${service.url}/api/v1/apps`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${third.apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Shop', domain: 'https://shop.example' }),
  });
  const { id: app } = (await created.json()) as { id: string };
  expect(await admin('app', 'list', '--account', accountId)).toMatchObject([{ id: app, access: 'owner' }]);
  expect(await admin('app', 'rotate-secret', '--app', app, '--overlap', '8s')).toEqual({
    secretKey: expect.stringMatching(/^app_secret_[0-9A-Za-z]{40}$/),
  });
  const setting = { appId: app, days: 30, exactFrom: null };
  expect(await admin('app', 'set-retention', '--app', app, '--days', '30')).toEqual(setting);
  expect(await admin('app', 'retention', '--app', app)).toEqual(setting);
  expect(await admin('app', 'set-retention', '--app', app, '--days', 'none')).toMatchObject({ days: null });
  const excluded = { appId: app, addresses: ['192.0.2.7/32', '2001:db8::/32'] };
  const list = '192.0.2.7, 2001:DB8::/32,192.0.2.7';
  expect(await admin('app', 'exclude', '--app', app, '--addresses', list)).toEqual(excluded);
  expect(await admin('app', 'excluded', '--app', app)).toEqual(excluded);
  const none = { appId: app, addresses: [] };
  expect(await admin('app', 'exclude', '--app', app, '--addresses', 'none')).toEqual(none);
  await admin('app', 'share', '--app', app, '--account', guest.accountId);
  expect(await admin('app', 'list', '--account', guest.accountId)).toMatchObject([
    { id: app, access: 'shared' },
  ]);
  await admin('app', 'unshare', '--app', app, '--account', guest.accountId);
  expect(await admin('app', 'list', '--account', guest.accountId)).toEqual([]);
  expect(await admin('share', 'list')).toEqual([]);
  expect(await admin('app', 'list')).toMatchObject([{ id: app, accountId, accountName: 'Acme شرکت' }]);
  expect(await admin('account', 'rename', '--account', guest.accountId, '--name', 'Visitor')).toMatchObject({
    name: 'Visitor',
    plan: 'pro',
  });
  await admin('app', 'delete', '--yes', '--app', app);
  expect(await admin('app', 'list', '--account', accountId)).toEqual([]);
  await admin('account', 'delete', '--yes', '--account', guest.accountId);
  expect(await admin('account', 'list')).toMatchObject([{ accountId }]);
});

describe('names in the place of ids', () => {
  type Created = { id: string; secretKey: string };
  /** The same command in this process, which takes a few milliseconds. */
  const admin = async <T = unknown>(...args: string[]): Promise<T> => {
    const { port } = new URL(service.managementUrl);
    return (await adminOf({ MANAGEMENT_PORT: port, DATA_DIR: service.dataDir })(...args)) as T;
  };
  const refusal = (...args: string[]): Promise<string> =>
    admin(...args).then(
      () => 'done',
      (error: CliError) => error.message,
    );
  const create = (account: string, name: string, domain: string) =>
    admin<Created>('app', 'create', '--account', account, '--name', name, '--domain', domain);

  test('an app is created in an account by its name, and its secret works at once', async () => {
    const { accountId } = await admin<{ accountId: string }>('account', 'create', '--name', 'By name');
    const app = await create('By name', ' Shop ', 'https://SHOP.example/');
    expect(app).toEqual({
      id: expect.any(String),
      name: 'Shop',
      domain: 'https://shop.example',
      access: 'owner',
      createdAt: expect.any(String),
      secretKey: expect.stringMatching(/^app_secret_/),
    });
    const sent = await fetch(`${service.url}/sdk/v1/events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(batchFor({ app: appId(app.id), secretKey: app.secretKey })),
    });
    expect(await sent.json()).toEqual({ accepted: 1, rejected: [] });
    expect(await admin('audit', '--account', 'By name')).toMatchObject([
      { accountId, actor: 'operator', action: 'app.create', subject: app.id, outcome: 'done' },
    ]);
    const lineFor = (domain: string, account = 'By name') =>
      refusal('app', 'create', '--account', account, '--name', 'S', '--domain', domain);
    expect(await lineFor('http://shop.example')).toMatch(/already has an app for shop\.example/);
    expect(await lineFor('shop.example')).toMatch(/^--domain: Must be an http or https origin/);
    expect(await lineFor('https://a.example', 'by name')).toMatch(
      /^--account: There is no account with the name by name\./,
    );
  });

  test.each([
    ['its name', 'Böse Büro'],
    ['its origin', 'https://büro.example:8443'],
    ['its origin, as it is stored', 'https://xn--bro-hoa.example:8443'],
    ['its host', 'BÜRO.example:8443'],
  ])('an app is found by %s', async (_, given) => {
    const apps = await admin<{ name: string; id: string }[]>('app', 'list');
    if (!apps.some(({ name }) => name === 'Böse Büro')) {
      await admin('account', 'create', '--name', 'Finders');
      await create('Finders', 'Böse Büro', 'https://büro.example:8443');
    }
    expect(await admin('app', 'retention', '--app', given)).toMatchObject({ days: null });
    expect(await refusal('app', 'retention', '--app', 'büro.example')).toMatch(/^--app: There is no app/);
  });

  test('a name that stands for several is refused with all of them, and nothing is done', async () => {
    const accounts = [];
    for (const plan of ['free', 'pro']) {
      accounts.push(
        await admin<{ accountId: string }>('account', 'create', '--name', 'Twice', '--plan', plan),
      );
    }
    const ids = accounts.map(({ accountId }) => accountId);
    const apps = [
      await create(ids[0] ?? '', 'Blog', 'https://twin.example'),
      await create(ids[1] ?? '', 'twin.example', 'https://other.example'),
    ];
    const refusedAccount = await refusal('account', 'delete', '--yes', '--account', 'Twice');
    expect(refusedAccount).toBe(
      `--account: 2 accounts have the name Twice. Give the id of one: ${ids[0]} (Twice), ${ids[1]} (Twice).`,
    );
    const refusedApp = await refusal('app', 'delete', '--yes', '--app', 'twin.example');
    expect(refusedApp).toBe(
      `--app: 2 apps have the name or domain twin.example. Give the id of one: ${apps[0]?.id} (Blog, https://twin.example, of Twice), ${apps[1]?.id} (twin.example, https://other.example, of Twice).`,
    );
    await admin('app', 'delete', '--yes', '--app', 'https://twin.example');
    expect((await admin<{ id: string }[]>('app', 'list')).map(({ id }) => id)).not.toContain(apps[0]?.id);
    expect(await admin('app', 'list', '--account', ids[1] ?? '')).toMatchObject([{ id: apps[1]?.id }]);
  });
});

describe('errors are one line', () => {
  const id = randomUUID();
  test.each<[string[], RegExp]>([
    [[], /^Say a command: one of account, key, app, .*seal, .*sign-in-link, sign-out, audit\. Add --help /],
    [
      ['key', 'create', '--account', id, '--expire', 'x'],
      /^Unknown option '--expire' \(Did you mean --expires\?\)\. Add --help /,
    ],
    [['key', 'rotate', '--key', id], new RegExp(`^--key: There is no API key ${id}\\.$`)],
    [
      ['app', 'share', '--account', randomUUID(), '--app', id.toUpperCase()],
      new RegExp(`--app: There is no app ${id}\\.$`),
    ],
    [
      ['app', 'delete', '--yes', '--app', 'shop'],
      /^--app: There is no app with the name or domain shop\. "admin app list" shows all\.$/,
    ],
    [
      ['app', 'share', '--app', id, '--account', 'Nobody'],
      /^--account: There is no account with the name Nobody\. "admin account list" shows all\.$/,
    ],
    [
      ['app', 'create', '--account', id, '--name', 'Shop', '--domain', 'https://shop.example'],
      new RegExp(`^--account: There is no account ${id}\\.$`),
    ],
    [
      ['account', 'create', '--name', 'A', '--plan', 'gold'],
      /^--plan: Must be one of free, pro, suspended\.$/,
    ],
    [
      ['key', 'create', '--account', id, '--expires', 'tomorrow'],
      /^--expires: Must be an ISO 8601 date-time/,
    ],
    [['key', 'rotate', '--key', id, '--overlap', '9999d'], /^--overlap: Must be at most 3650 days\.$/],
    ...(['app', 'account'] as const).map((kind): [string[], RegExp] => [
      [kind, 'delete', `--${kind}`, id],
      /^Nothing was deleted: there is no terminal to ask for the name\. Add --yes to delete\.$/,
    ]),
  ])('admin %j', async (args, line) => {
    expect(lineOf(await service.admin(args))).toMatch(line);
  });

  test('also when the service cannot be reached', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'analytics-elsewhere-'));
    const secret = { MANAGEMENT_JWT_SECRET: 'another secret of more than 32 characters' };
    const list = ['account', 'list'];
    const notOurs = await listening(createServer((_req, res) => res.end('<html>')));
    const [closed, noFolder, otherSecret, wrongSetting, otherProgram] = await Promise.all([
      service.admin(list, { MANAGEMENT_PORT: '1' }),
      service.admin(list, { DATA_DIR: elsewhere }),
      service.admin(list, secret),
      service.admin(list, { MANAGEMENT_PORT: 'x', PORT: 'y' }),
      runAdmin(list, { ...secret, MANAGEMENT_PORT: String((notOurs.address() as AddressInfo).port) }),
    ]);
    notOurs.close();
    removeFolder(elsewhere);
    expect(lineOf(closed)).toMatch(
      /does not answer at http:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\): start it with session-analytics serve or npm start/,
    );
    expect(lineOf(noFolder)).toMatch(/^There is no .*management\.jwt: start the service/);
    expect(lineOf(otherSecret)).toMatch(/refused the token: use the same DATA_DIR or MANAGEMENT_JWT_SECRET/);
    expect(lineOf(wrongSetting)).toMatch(/^Wrong settings: PORT must be .* MANAGEMENT_PORT must be /);
    expect(lineOf(otherProgram)).toMatch(/is not this service \(status 200\): check MANAGEMENT_HOST/);
  });
});

const listening = (server: Server): Promise<Server> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
