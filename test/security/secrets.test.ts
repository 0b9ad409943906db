import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { epochMs } from '../../src/domain/time.ts';
import { signManagementToken } from '../../src/management/token.ts';
import { newApiKey, newAppSecret } from '../../src/metadata/credentials.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { type Running, running, SECRET } from '../faults/support.ts';
import { send, sendRaw } from '../http/support.ts';
import { bytesOf, filesBelow } from '../support/files.ts';
import { PROGRAM } from '../support/program.ts';
import { type LocalRedis, localRedis } from '../support/redis.ts';

const REDIS_PASSWORD = 'redis-password-of-this-test';
const folders: string[] = [];
let redis: LocalRedis | undefined;
let service: Running | undefined;
afterAll(async () => {
  await service?.kill();
  await redis?.close();
  for (const folder of folders) removeFolder(folder);
});

/** Returns a secret in every coding in which it could be printed, also without its prefix. */
function spellings(secret: string): string[] {
  const bare = secret.replace(/^(service_api_|app_secret_)/, '');
  return [
    bare,
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('hex'),
    encodeURIComponent(bare),
  ];
}

function expectNone(secrets: readonly string[], where: string, text: string): void {
  const found = secrets.flatMap((secret) => spellings(secret).filter((spelling) => text.includes(spelling)));
  expect(found, where).toEqual([]);
}

/** Sends every secret to every place where a caller could put one, valid or not. */
async function spill(service: Running, secrets: readonly string[], keys: readonly string[]): Promise<string> {
  const answers = await Promise.all(
    secrets.flatMap((secret) => [
      send(service.url, `/api/v1/${encodeURIComponent(secret)}`, { key: keys[0] ?? null }),
      send(service.url, `/${encodeURIComponent(secret)}?key=${encodeURIComponent(secret)}`, {
        headers: {
          Cookie: `k=${secret}`,
          Referer: `https://x/${secret}`,
          'User-Agent': secret,
          'X-Request-Id': `${secret}!`,
        },
      }),
      send(service.url, `/api/v1/apps?${encodeURIComponent(secret)}=${encodeURIComponent(secret)}`, {
        key: keys[0] ?? null,
      }),
      send(service.url, '/api/v1/apps', {
        headers: { Authorization: `Basic ${Buffer.from(secret).toString('base64')}` },
      }),
      send(service.url, '/api/v1/apps', { key: secret }),
      send(service.url, '/api/v1/apps', { method: 'POST', key: secret, body: `{"name":"${secret}` }),
      send(service.url, '/sdk/v1/events', {
        method: 'POST',
        body: { secretKey: secret, appId: secret, batchId: secret, sessions: [secret] },
      }),
      send(service.managementUrl, `/management/v1/${encodeURIComponent(secret)}`, { key: secret }),
      send(service.managementUrl, '/management/v1/accounts', {
        method: 'POST',
        key: secret,
        body: { name: secret, [secret]: 1 },
      }),
      sendRaw(service.url, `GET /${secret} HTTP/1.1\r\nAuthorization Bearer ${secret}\r\n\r\n`),
    ]),
  );
  // A field name that the caller sent may come back to the caller, but nowhere else.
  return answers
    .map(({ text, headers }) => `${text.replace(/"errors":\[.*?\]/, '')}${JSON.stringify(headers)}`)
    .join('\n');
}

test.each(['debug', 'info'])('at level %s nothing that the process prints holds a secret', async (level) => {
  redis ??= await localRedis();
  const dataDir = mkdtempSync(join(tmpdir(), 'analytics-secrets-'));
  folders.push(dataDir);
  await redis.command('CONFIG', 'SET', 'requirepass', REDIS_PASSWORD).catch(() => undefined);
  service = await running({
    DATA_DIR: dataDir,
    LOG_LEVEL: level,
    REDIS_URL: redis.url.replace('//', `//:${REDIS_PASSWORD}@`),
  });
  const tenant = await service.newTenant();
  const { apiKey: rotated } = z
    .object({ apiKey: z.string() })
    .parse(await service.admin('key', 'rotate', '--key', tenant.keyId, '--overlap', '1h'));
  const { secretKey: second } = z
    .object({ secretKey: z.string() })
    .parse(await service.admin('app', 'rotate-secret', '--app', tenant.app.id, '--overlap', '1h'));
  const token = await signManagementToken(SECRET, () => epochMs(Date.now()));
  const keys = [tenant.key, rotated];
  const secrets = [
    ...keys,
    tenant.app.secretKey,
    second,
    token,
    SECRET,
    REDIS_PASSWORD,
    newApiKey(),
    newAppSecret(),
  ];
  expect((await service.record(tenant.app, ['/a'])).status).toBe(200);
  expect(
    (await service.ask(`/api/v1/sessions/pageviews?appId=${tenant.app.id}`, { key: rotated })).status,
  ).toBe(200);
  expectNone(secrets, 'answers', await spill(service, secrets, keys));
  for (const page of ['/healthz', '/readyz', '/openapi.json']) {
    expectNone(secrets, page, (await service.ask(page)).text);
  }
  await expectNothingInRedis(redis, secrets);
  if (level === 'error') {
    // The store goes away during the request. Its errors are logged with all their causes.
    await service.record(tenant.app, ['/b']);
    await service.kill();
  } else expect(await service.stop()).toBe(0);
  expect(service.output()).toContain('"requestId"');
  expectNone(secrets, 'output', service.output());
  await expectNothingStored(dataDir, secrets);
});

async function expectNothingInRedis({ url }: LocalRedis, secrets: readonly string[]): Promise<void> {
  const client = new Redis(url, { password: REDIS_PASSWORD });
  const names = await client.keys('*');
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expectNone(secrets, 'Redis', `${name} ${await client.get(name)}`);
  expectNone(secrets, 'Redis clients', String(await client.client('LIST')));
  client.disconnect();
}

/** Searches every table as text, because columns are compressed, and every file byte by byte. */
async function expectNothingStored(dataDir: string, secrets: readonly string[]): Promise<void> {
  for (const path of filesBelow(dataDir)) {
    expectNone(secrets, path, bytesOf(join(dataDir, path))?.toString('latin1') ?? '');
  }
  const db = await openDatabase({ kind: 'embedded', dataDir, database: 'analytics' });
  try {
    const tables = await db.query({
      name: 'tables',
      sql: sql`SELECT name FROM system.tables WHERE database = 'analytics' AND engine LIKE '%MergeTree'`,
      row: z.object({ name: z.string() }),
    });
    expect(tables.length).toBeGreaterThan(10);
    let bytes = 0;
    for (const { name } of tables) {
      const rows = await db.query(
        {
          name,
          sql: sql`SELECT toString(tuple(*)) AS text FROM {table:Identifier}`,
          row: z.object({ text: z.string() }),
        },
        { table: name },
      );
      const text = rows.map((row) => row.text).join('\n');
      bytes += text.length;
      expectNone(secrets, `table ${name}`, text);
    }
    expect(bytes).toBeGreaterThan(1_000);
  } finally {
    await db.close();
  }
}

test('a start that fails prints no secret of its settings', async () => {
  const secrets = ['password-in-a-url', 'short-secret', 'password-of-the-store'];
  const [inUrl = '', short = '', password = ''] = secrets;
  const settings: Record<string, string>[] = [
    { CLICKHOUSE_URL: `http://default:${inUrl}@127.0.0.1:1`, MANAGEMENT_JWT_SECRET: SECRET },
    { REDIS_URL: `http://:${inUrl}@127.0.0.1:1` },
    { MANAGEMENT_JWT_SECRET: short },
    {
      CLICKHOUSE_URL: 'http://127.0.0.1:1',
      CLICKHOUSE_PASSWORD: password,
      MANAGEMENT_JWT_SECRET: SECRET,
      REDIS_URL: `redis://:${inUrl}@127.0.0.1:1`,
      STORE_WAIT_SECONDS: '2',
    },
    {
      DATA_DIR: '/dev/null/nothing',
      MANAGEMENT_JWT_SECRET: SECRET,
      REDIS_URL: `redis://:${inUrl}@127.0.0.1:1`,
    },
  ];
  const said = await Promise.all(
    settings.map(async (env) => {
      const child = spawn(PROGRAM, ['serve'], {
        env: { PATH: process.env['PATH'], PORT: '0', MANAGEMENT_PORT: '0', LOG_LEVEL: 'debug', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const printed: string[] = [];
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text: Buffer) => printed.push(text.toString()));
      const [code] = await once(child, 'close');
      return { code, text: printed.join('') };
    }),
  );
  for (const { code, text } of said) {
    expect(code).toBe(1);
    expect(text.length).toBeGreaterThan(20);
    expectNone([...secrets, SECRET], 'a failed start', text);
  }
});
