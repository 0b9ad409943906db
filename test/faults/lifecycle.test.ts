import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { migrate, readMigrations } from '../../src/clickhouse/migrate.ts';
import { type Answer, send } from '../http/support.ts';
import { freePort } from '../support/redis.ts';
import { embeddedLocation } from '../support/store.ts';
import { batchOf, type Running, running, SECRET, type Tenant } from './support.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'analytics-lifecycle-'));
  ended.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A file system of its own in memory; tests run as root, or in a container where they may mount. */
function mounted(options: string): string {
  const path = folder();
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path]);
  if (status !== 0) throw new Error(`this test needs to mount a tmpfs (root, CAP_SYS_ADMIN): ${stderr}`);
  ended.push(() => spawnSync('umount', ['-l', path]));
  return path;
}

/** Starts the service, which is expected to end by itself, and returns its exit code and what it said. */
async function failedStart(env: Record<string, string>): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    env: {
      PATH: process.env['PATH'],
      UV_THREADPOOL_SIZE: '16',
      PORT: '0',
      MANAGEMENT_PORT: '0',
      MANAGEMENT_JWT_SECRET: SECRET,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => printed.push(text.toString()));
  const [code] = await once(child, 'close');
  return { code, said: printed.join('') };
}

/** The last line is ours; the engine may have said its own before. */
function expectSaid({ code, said }: { code: number; said: string }, message: RegExp): void {
  const line = said.trimEnd().split('\n').at(-1) ?? '';
  expect(line).toMatch(message);
  expect(code).toBe(1);
  expect(said).not.toMatch(/\n {4}at /);
}

async function started(dataDir: string): Promise<{ service: Running; tenant: Tenant }> {
  const service = await running({ DATA_DIR: dataDir });
  ended.push(() => service.kill());
  return { service, tenant: await service.newTenant() };
}

const viewsOf = async (service: Running, { app, key }: Tenant): Promise<number> => {
  const answer = await service.ask(`/api/v1/sessions/pageviews?appId=${app.id}`, { key });
  expect(answer.status).toBe(200);
  return (answer.json as { views: number }[]).reduce((sum, { views }) => sum + views, 0);
};

test('SIGTERM under load: every request that was let in is answered, every acknowledged event is there', async () => {
  const dataDir = folder();
  const { service, tenant } = await started(dataDir);
  let [stopping, acknowledged] = [false, 0];
  const outcomes: { readonly status: number; readonly code: string; readonly late: boolean }[] = [];
  const caller = async (ask: () => Promise<Answer>, views: number): Promise<void> => {
    for (let refused = false; !refused; ) {
      const late = stopping;
      try {
        const { status, text } = await ask();
        if (status === 200 && views > 0) {
          expect(text).toContain(`"accepted":${views}`);
          acknowledged += views;
        }
        outcomes.push({ status, code: '', late });
      } catch (error) {
        const code = String((error as { code?: unknown }).code);
        refused = code === 'ECONNREFUSED';
        outcomes.push({ status: 0, code, late });
      }
    }
  };
  const post = (): Promise<Answer> =>
    send(service.url, '/sdk/v1/events', { method: 'POST', body: batchOf(tenant.app, ['/a', '/b']) });
  const get = (): Promise<Answer> =>
    service.ask(`/api/v1/sessions/timespent?appId=${tenant.app.id}`, { key: tenant.key });
  const callers = [
    ...Array.from({ length: 8 }, () => caller(post, 2)),
    ...Array.from({ length: 4 }, () => caller(get, 0)),
  ];
  await sleep(1_500);
  stopping = true;
  expect(await service.stop()).toBe(0);
  await Promise.all(callers);
  expect(acknowledged).toBeGreaterThan(0);
  // Begun before the signal: answered. After it: answered, or not let in.
  for (const { status, code, late } of outcomes) {
    if (code === '') expect([200, 503]).toContain(status);
    else if (late) expect(['ECONNREFUSED', 'ECONNRESET']).toContain(code);
  }
  expect(outcomes.filter(({ code, late }) => code !== '' && !late)).toEqual([]);

  const again = await running({ DATA_DIR: dataDir });
  ended.push(() => again.kill());
  const views = await viewsOf(again, tenant);
  // What was not acknowledged may be there or not.
  expect(views).toBeGreaterThanOrEqual(acknowledged);
});

describe('a start that cannot be', () => {
  test('a second process on the folder: says who has it, and leaves it alone', async () => {
    const dataDir = folder();
    const { service, tenant } = await started(dataDir);
    await service.record(tenant.app, ['/a']);
    expectSaid(
      await failedStart({ DATA_DIR: dataDir }),
      new RegExp(
        `^Cannot open the store in .*: process ${service.pid} uses it\\. Stop that one, or set DATA_DIR`,
      ),
    );
    expect((await service.record(tenant.app, ['/a'])).status).toBe(200);
    expect(await viewsOf(service, tenant)).toBe(2);
  });

  test('a folder that cannot be written, is none, or has no room', async () => {
    const readOnly = mounted('ro,size=1m');
    expectSaid(
      await failedStart({ DATA_DIR: readOnly }),
      /the folder cannot be written \(EROFS\)\. Make it writable, or set DATA_DIR/,
    );
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    expectSaid(
      await failedStart({ DATA_DIR: file }),
      /it is not a folder \(E\w+\)\. Set DATA_DIR to another path/,
    );
    expectSaid(
      await failedStart({ DATA_DIR: join(file, 'below') }),
      /something on the way there is not a folder \(ENOTDIR\)\. Set DATA_DIR to another path/,
    );
    const tiny = mounted('size=32k');
    expectSaid(
      await failedStart({ DATA_DIR: tiny }),
      /no space is left on its device \(ENOSPC\)\. Free some and start again/,
    );
  });

  test('a folder that cannot be made: below one that takes none, behind a dangling link', async () => {
    const link = join(folder(), 'link');
    symlinkSync(`${link}-to-nothing`, link);
    for (const dataDir of ['/proc/nothing', '/proc/nothing/below', join(link, 'below')]) {
      expectSaid(
        await failedStart({ DATA_DIR: dataDir }),
        /^Cannot open the store in .*: nothing can be made there \(ENOENT\)\. Set DATA_DIR to another path/,
      );
    }
    const deep = join(folder(), 'a', 'b', 'c');
    const { service } = await started(deep);
    expect(await service.stop()).toBe(0);
  });

  test('no room in the middle of the first migrations: goes on where it stopped when there is', async () => {
    const small = mounted('size=400k');
    const failed = await failedStart({ DATA_DIR: small });
    expectSaid(
      failed,
      /^(Migration \d+ \(\w+\) failed|Cannot bring the store up to date): .*not enough space.* start again: it goes on where it stopped\.$/i,
    );
    expect(spawnSync('mount', ['-o', 'remount,size=200m', small]).status).toBe(0);
    const { service, tenant } = await started(small);
    expect((await service.record(tenant.app, ['/a'])).status).toBe(200);
    await service.stop();
  });

  test('a damaged store is not opened, and is whole again with what was damaged put back', async () => {
    const dataDir = folder();
    const { service, tenant } = await started(dataDir);
    await service.record(tenant.app, ['/a', '/b']);
    expect(await service.stop()).toBe(0);
    const file = join(dataDir, 'clickhouse', 'metadata', 'analytics.sql');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, 'garbage');
    expectSaid(
      await failedStart({ DATA_DIR: dataDir }),
      /^Cannot open the store in .*The engine's reason stands above\. Nothing was changed: .* backup/,
    );
    writeFileSync(file, text);
    const again = await running({ DATA_DIR: dataDir });
    ended.push(() => again.kill());
    expect(await viewsOf(again, tenant)).toBe(2);
  });

  test('a port that is taken, on either listener', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    ended.push(() => other.close());
    for (const setting of ['PORT', 'MANAGEMENT_PORT']) {
      expectSaid(
        await failedStart({ DATA_DIR: folder(), [setting]: String(port) }),
        new RegExp(`^Cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE.*set ${setting} to another port`),
      );
    }
  });

  test('a store that is away, wrong settings', async () => {
    const away = `http://127.0.0.1:${await freePort()}`;
    expectSaid(
      await failedStart({ DATA_DIR: folder(), CLICKHOUSE_URL: away }),
      new RegExp(`^Cannot open the store at ${away}: .*Check that it runs, CLICKHOUSE_URL`),
    );
    const wrong = await failedStart({ PORT: '70000', REDIS_URL: 'http://x', TRUST_PROXY: 'yes' });
    expect(wrong.code).toBe(1);
    expect(wrong.said).toMatch(/^Wrong settings:\n {2}PORT .*\n {2}REDIS_URL .*\n {2}TRUST_PROXY .*\n$/);
  });
});

test('bytes of a stored column that have changed: refused, never a wrong figure', async () => {
  const dataDir = folder();
  const { service, tenant } = await started(dataDir);
  await service.record(
    tenant.app,
    Array.from({ length: 300 }, (_, i) => `/page/${i}`),
  );
  expect(await service.stop()).toBe(0);
  const store = join(dataDir, 'clickhouse', 'store');
  const files = readdirSync(store, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\/data\.bin$/.test(path),
  );
  let damaged = 0;
  for (const path of files) {
    const bytes = readFileSync(join(store, path));
    if (!bytes.includes('page')) continue;
    damaged++;
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 0xff, bytes.length >> 1);
    writeFileSync(join(store, path), bytes);
  }
  expect(damaged).toBeGreaterThan(0);
  const again = await running({ DATA_DIR: dataDir }).catch((error: unknown) => error as Error);
  if (again instanceof Error) {
    expect(again.message).toContain('Cannot open the store');
    return;
  }
  ended.push(() => again.kill());
  const answer = await again.ask(`/api/v1/sessions/pageviews?appId=${tenant.app.id}`, { key: tenant.key });
  if (answer.status === 200) expect(answer.json).toHaveLength(300);
  else expect([500, 503]).toContain(answer.status);
});

test('a disk that fills up while it runs: events are refused, not lost, and come in again when there is room', async () => {
  const dataDir = mounted('size=96m');
  const { service, tenant } = await started(dataDir);
  expect((await service.record(tenant.app, ['/before'])).status).toBe(200);
  const ballast = join(dataDir, 'ballast');
  fillUp(ballast);
  const batchId = randomUUID();
  const refused = await service.record(tenant.app, ['/during'], batchId);
  expect(refused.status).toBe(503);
  expect(refused.text).not.toMatch(/space|disk|clickhouse/i);
  expect((await service.ask('/healthz')).status).toBe(200);
  rmSync(ballast);
  await expect
    .poll(async () => (await service.record(tenant.app, ['/during'], batchId)).status, {
      timeout: 30_000,
      interval: 500,
    })
    .toBe(200);
  await expect.poll(() => viewsOf(service, tenant)).toBe(2);
  expect(await service.stop()).toBe(0);
  const again = await running({ DATA_DIR: dataDir });
  ended.push(() => again.kill());
  expect(await viewsOf(again, tenant)).toBe(2);
});

/** To the last byte. */
function fillUp(path: string): void {
  for (let size = 8 * 1024 ** 2; size >= 1_024; ) {
    try {
      appendFileSync(path, Buffer.alloc(size));
    } catch {
      size /= 2;
    }
  }
}

test('a migration that fails halfway: says which and why, and goes on when it is mended', async () => {
  const place = embeddedLocation();
  const db = await openDatabase(place.location);
  ended.push(async () => {
    await db.command('drop', `DROP DATABASE IF EXISTS ${place.location.database} SYNC`);
    await db.close();
    place.remove();
  });
  const migration = (second: string) => ({
    version: 9_000,
    name: 'halfway',
    checksum: second,
    statements: ['CREATE TABLE IF NOT EXISTS half (a UInt8) ENGINE = MergeTree ORDER BY a', second],
  });
  const all = readMigrations();
  await expect(
    migrate(db, [...all, migration('CREATE TABLE broken (a NoType) ENGINE = MergeTree ORDER BY a')]),
  ).rejects.toThrow(
    /^Migration 9000 \(halfway\) failed: .*NoType.* start again: it goes on where it stopped\.$/,
  );
  const mended = migration('CREATE TABLE IF NOT EXISTS whole (a UInt8) ENGINE = MergeTree ORDER BY a');
  expect(await migrate(db, [...all, mended])).toEqual(['halfway']);
  expect(await migrate(db, [...all, mended])).toEqual([]);
});
