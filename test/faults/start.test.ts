import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { migrate, readMigrations } from '../../src/clickhouse/migrate.ts';
import { identifier, type Sql, sql } from '../../src/clickhouse/sql.ts';
import { embeddedPlace } from '../../src/testing/place.ts';
import { PROGRAM } from '../support/program.ts';
import { freePort } from '../support/redis.ts';
import { atEnd, folder, mounted, started, viewsOf } from './folders.ts';
import { running, SECRET } from './support.ts';

interface FailedStart {
  readonly code: number;
  /** What it wrote to the error stream. */
  readonly said: string;
  readonly log: string;
}

/** Starts the service, which must end by itself. */
async function failedStart(env: Record<string, string>): Promise<FailedStart> {
  const child = spawn(PROGRAM, ['serve'], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      MANAGEMENT_PORT: '0',
      MANAGEMENT_JWT_SECRET: SECRET,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // They are read one by one: which of two streams is read first says nothing about which was written first.
  const [said, log, [code]] = await Promise.all([
    text(child.stderr),
    text(child.stdout),
    once(child, 'close'),
  ]);
  return { code, said, log };
}

/** Expects the service's own message in the last line. The engine may print its own before. */
function expectSaid({ code, said, log }: FailedStart, message: RegExp): void {
  const line = said.trimEnd().split('\n').at(-1) ?? '';
  expect(line).toMatch(message);
  expect(code).toBe(1);
  expect(said + log).not.toMatch(/\n {4}at /);
}

describe('a start that fails', () => {
  test('a second process on the folder: names the first one and leaves the folder alone', async () => {
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

  test('a folder that is read-only, no folder, or full', async () => {
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
      /its disk is full \(ENOSPC\)\. Free some space and start again/,
    );
  });

  test('a folder that cannot be made: in a read-only folder, behind a dangling link', async () => {
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

  test('no room during the first migrations: continues there once there is room', async () => {
    const small = mounted('size=400k');
    const failed = await failedStart({ DATA_DIR: small });
    expectSaid(
      failed,
      /^The disk is full: (Migration \d+ \(\w+\) failed|Cannot bring the store up to date): .*not enough space.* start again: it goes on where it stopped\.$/i,
    );
    expect(spawnSync('mount', ['-o', 'remount,size=200m', small]).status).toBe(0);
    const { service, tenant } = await started(small);
    expect((await service.record(tenant.app, ['/a'])).status).toBe(200);
    await service.stop();
  });

  test('a damaged store is not opened, and is intact after the damaged file is restored', async () => {
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
    atEnd(() => again.kill());
    expect(await viewsOf(again, tenant)).toBe(2);
  });

  test('a taken port, on either listener', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    atEnd(() => other.close());
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
      await failedStart({ DATA_DIR: folder(), CLICKHOUSE_URL: away, STORE_WAIT_SECONDS: '5' }),
      new RegExp(`^Cannot open the store at ${away}: .*Check that it runs, CLICKHOUSE_URL`),
    );
    const wrong = await failedStart({ PORT: '70000', REDIS_URL: 'http://x', TRUST_PROXY: 'yes' });
    expect(wrong.code).toBe(1);
    expect(wrong.said).toMatch(/^Wrong settings:\n {2}PORT .*\n {2}REDIS_URL .*\n {2}TRUST_PROXY .*\n$/);
  });
});

test('a migration that fails halfway: the message names it and the reason, and a corrected one continues', async () => {
  const place = embeddedPlace();
  const db = await openDatabase(place.location);
  atEnd(async () => {
    await db.command('drop', sql`DROP DATABASE IF EXISTS ${identifier(place.location.database)} SYNC`);
    await db.close();
    place.remove();
  });
  const migration = (second: Sql) => ({
    version: 9_000,
    name: 'halfway',
    checksum: second,
    statements: [sql`CREATE TABLE IF NOT EXISTS half (a UInt8) ENGINE = MergeTree ORDER BY a`, second],
  });
  const all = readMigrations();
  await expect(
    migrate(db, [...all, migration(sql`CREATE TABLE broken (a NoType) ENGINE = MergeTree ORDER BY a`)]),
  ).rejects.toThrow(
    /^Migration 9000 \(halfway\) failed: .*NoType.* start again: it goes on where it stopped\.$/,
  );
  const mended = migration(sql`CREATE TABLE IF NOT EXISTS whole (a UInt8) ENGINE = MergeTree ORDER BY a`);
  expect(await migrate(db, [...all, mended])).toEqual(['halfway']);
  expect(await migrate(db, [...all, mended])).toEqual([]);
});
