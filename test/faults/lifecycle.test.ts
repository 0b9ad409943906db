import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { backupOf } from '../../src/cli/backups.ts';
import { readConfig } from '../../src/config.ts';
import { messageOf } from '../../src/domain/thrown.ts';
import { type Answer, send } from '../http/support.ts';
import { program } from '../support/program.ts';
import { atEnd, folder, mounted, started, viewsOf } from './folders.ts';
import { batchOf, running, SECRET } from './support.ts';

test('SIGTERM under load: every accepted request is answered, every acknowledged event is stored', async () => {
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
  // A request that began before the signal is answered. A later one is answered or refused.
  for (const { status, code, late } of outcomes) {
    if (code === '') expect([200, 503]).toContain(status);
    else if (late) expect(['ECONNREFUSED', 'ECONNRESET']).toContain(code);
  }
  expect(outcomes.filter(({ code, late }) => code !== '' && !late)).toEqual([]);

  const again = await running({ DATA_DIR: dataDir });
  atEnd(() => again.kill());
  const views = await viewsOf(again, tenant);
  // Events that were not acknowledged may be stored or not.
  expect(views).toBeGreaterThanOrEqual(acknowledged);
});

test('changed bytes of a stored column: refused, never a wrong figure', async () => {
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
  atEnd(() => again.kill());
  const answer = await again.ask(`/api/v1/sessions/pageviews?appId=${tenant.app.id}`, { key: tenant.key });
  if (answer.status === 200) expect(answer.json).toHaveLength(300);
  else expect([500, 503]).toContain(answer.status);
});

test('a disk that fills up: events are refused, not lost, and accepted again when there is room', async () => {
  const dataDir = mounted('size=96m');
  const { service, tenant } = await started(dataDir, { TMPDIR: dataDir });
  expect((await service.record(tenant.app, ['/before'])).status).toBe(200);
  const ballast = join(dataDir, 'ballast');
  const batches: string[] = [];
  const record = (): Promise<Answer> => {
    batches.push(randomUUID());
    return service.record(tenant.app, ['/during'], batches.at(-1));
  };
  const refused = await whileFull(ballast, record, ({ status }) => status !== 200);
  expect(refused.status).toBe(503);
  expect(refused.text).not.toMatch(/space|disk|clickhouse/i);
  expect((await service.ask('/healthz')).status).toBe(200);
  // Callers are not told. The operator is, wherever the operator looks.
  const ready = await service.ask('/readyz');
  expect([ready.status, ready.json]).toMatchObject([200, { store: 'disk full', status: 'degraded' }]);
  expect(service.output()).toMatch(/"level":"?warn"?.*The disk of the store is full\. The service goes on/);
  const createAccount = (): Promise<string> =>
    reasonOf(service.admin('account', 'create', '--name', `Late ${randomUUID()}`));
  expect(await whileFull(ballast, createAccount, (reason) => reason !== '')).toMatch(
    /is not ready \(status 503\): The disk of the store is full\./,
  );
  const settings = { MANAGEMENT_PORT: new URL(service.managementUrl).port, MANAGEMENT_JWT_SECRET: SECRET };
  const config = readConfig({ ...settings, DATA_DIR: dataDir });
  const backup = (): Promise<string> => reasonOf(backupOf(join(dataDir, `backup-${randomUUID()}`), config));
  expect(await whileFull(ballast, backup, (reason) => reason !== '')).toMatch(
    /^No backup was made\. The disk (of the store )?is full\b/,
  );
  fillUp(ballast);
  // What is on its way is stored when there is room for a moment.
  expect(await viewsOf(service, tenant)).toBeGreaterThanOrEqual(batches.length);
  rmSync(ballast);
  for (const batch of batches) {
    await expect
      .poll(async () => (await service.record(tenant.app, ['/during'], batch)).status, { interval: 500 })
      .toBe(200);
  }
  await expect.poll(() => viewsOf(service, tenant)).toBe(1 + batches.length);
  expect(await service.stop()).toBe(0);
  const again = await running({ DATA_DIR: dataDir });
  atEnd(() => again.kill());
  expect(await viewsOf(again, tenant)).toBe(1 + batches.length);
});

test('commands say that a disk is full: backups to it, the folder of an import, benches', async () => {
  const { service, tenant } = await started(folder());
  await service.record(tenant.app, ['/a']);
  const full = mounted('size=64k');
  fillUp(join(full, 'ballast'));
  const settings = {
    MANAGEMENT_PORT: new URL(service.managementUrl).port,
    MANAGEMENT_JWT_SECRET: SECRET,
    DATA_DIR: service.dataDir,
  };
  const to = join(full, 'backup');
  await expect(backupOf(to, readConfig(settings))).rejects.toThrow(
    `No backup was made. The disk is full: there is no room for the backup in ${to}. Make room, or name a folder on another disk.`,
  );
  const said = async (...args: string[]): Promise<string> => {
    const { status, stderr } = spawnSync(await program(), args, {
      env: { PATH: process.env['PATH'], ...settings },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    return stderr.trim();
  };
  const log = 'test/data/access-excerpt.log';
  expect(await said('import', log, '--app', tenant.app.id, '--state', full)).toMatch(
    /^The disk is full: ENOSPC: [^\n]*$/,
  );
  expect(await said('bench', 'data', '--events', '1000', '--dir', full)).toMatch(
    /^The disk is full: [^\n]*$/,
  );
});

/** Why something failed; empty if it did not. */
const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => '',
    (error: unknown) => messageOf(error),
  );

/**
 * Does something on a full disk. The engine makes room at any time, when it drops old parts, so what has found room is
 * done again.
 */
async function whileFull<T>(
  ballast: string,
  work: () => Promise<T>,
  isRefused: (result: T) => boolean,
): Promise<T> {
  for (;;) {
    fillUp(ballast);
    const filling = setInterval(() => fillUp(ballast), 20);
    const result = await work().finally(() => clearInterval(filling));
    if (isRefused(result)) return result;
  }
}

/** Fills the file system to the last byte. */
function fillUp(path: string): void {
  for (let size = 8 * 1024 ** 2; size >= 1_024; ) {
    try {
      appendFileSync(path, Buffer.alloc(size));
    } catch {
      size /= 2;
    }
  }
}
