import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { UNFINISHED } from '../../src/backup/contents.ts';
import { backupOf } from '../../src/cli/backups.ts';
import { readConfig } from '../../src/config.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { fill } from '../faults/heavy.ts';
import { type Running, running, SECRET } from '../faults/support.ts';
import { program, ROOT } from '../support/program.ts';
import { QUESTIONS, questionPath } from '../support/questions.ts';

const folder = mkdtempSync(join(tmpdir(), 'analytics-backup-killed-'));
afterAll(() => removeFolder(folder));
const DATA_DIR = join(folder, 'data');
mkdirSync(DATA_DIR);

/** From the beginning of a backup or a restore's first table until it is killed, growing until one is done before. */
const FIRST_MS = 30;
const GROWTH = 1.7;
const PAST = '&from=2026-01-01T00:00:00Z&to=2026-11-01T00:00:00Z';

const configOf = ({ managementUrl }: Running) =>
  readConfig({ DATA_DIR, MANAGEMENT_JWT_SECRET: SECRET, MANAGEMENT_PORT: new URL(managementUrl).port });

/** Restores in a process of its own, which is killed `ms` after its first table is there. Returns whether it ended before. */
async function restored(from: string, dataDir: string, ms: number): Promise<boolean> {
  const startedAt = Date.now();
  const child = spawn(await program(), ['restore', from], {
    cwd: ROOT,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir },
  });
  let isRunning = true;
  const ended = once(child, 'exit').finally(() => {
    isRunning = false;
  });
  const first = join(dataDir, 'clickhouse', 'metadata', 'analytics', `${UNFINISHED}.sql`);
  // Not that of a restore that was killed before.
  const isThere = (): boolean => (statSync(first, { throwIfNoEntry: false })?.ctimeMs ?? 0) > startedAt;
  while (isRunning && !isThere()) await sleep(2);
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  const [code] = await ended;
  clearTimeout(timer);
  return code === 0;
}

/** The windows of some questions follow the clock, at most each minute. */
const minute = (): number => Math.floor(Date.now() / 60_000);

/** Expects the same answer of both services to every question, each asked of both within one minute. */
async function expectSameAnswers(services: readonly Running[], app: string, key: string): Promise<void> {
  for (const question of QUESTIONS) {
    const path = `${questionPath(question, app)}${/kpis|pageviews|utm/.test(question.path) ? PAST : ''}`;
    for (let isSettled = false; !isSettled; ) {
      const begun = minute();
      const [one, other] = await Promise.all(
        services.map(async (service) => {
          const { status, json } = await service.ask(path, { key });
          return { status, json };
        }),
      );
      isSettled = minute() === begun;
      if (!isSettled) continue;
      expect(one, path).toMatchObject({ status: 200 });
      expect(one, path).toEqual(other);
    }
  }
}

test('a service killed while it makes a backup, and restores killed half-way', async () => {
  let service = await running({ DATA_DIR });
  const { app, key } = await service.newTenant();
  await fill(service, app, 4);
  let [kills, path] = [0, ''];
  for (let ms = FIRST_MS; ; ms *= GROWTH) {
    path = join(folder, `backup-${++kills}`);
    const done = backupOf(path, configOf(service)).then(
      () => true,
      () => false,
    );
    await Promise.race([done, sleep(ms)]);
    await service.kill();
    const isMade = await done;
    service = await running({ DATA_DIR });
    // What the killed process copied is gone, and the service has its data.
    const databases = readdirSync(join(DATA_DIR, 'clickhouse', 'metadata'));
    expect(databases.filter((name) => name.includes('_backup_'))).toEqual([]);
    if (isMade) break;
  }
  expect(kills).toBeGreaterThan(1);
  await service.stop();

  const elsewhere = join(folder, 'restored');
  let refused = 0;
  for (let ms = FIRST_MS; !(await restored(path, elsewhere, ms)); ms *= GROWTH) {
    const outcome = await running({ DATA_DIR: elsewhere }).catch(String);
    if (typeof outcome === 'string') {
      expect(outcome).toContain('The restore of a backup into this store did not end');
      refused++;
      continue;
    }
    // Killed before its first statement: nothing is there. After its last one: all is, as below.
    const isEmpty = ((await outcome.admin('account', 'list')) as unknown[]).length === 0;
    await outcome.stop();
    if (!isEmpty) break;
  }
  expect(refused).toBeGreaterThan(0);
  const again = await running({ DATA_DIR: elsewhere });
  service = await running({ DATA_DIR });
  await expectSameAnswers([again, service], app.id, key);
  await Promise.all([again.stop(), service.stop()]);
});
