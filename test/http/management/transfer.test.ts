import { execFile } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, statSync, truncateSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { epochMs } from '../../../src/domain/time.ts';
import { signManagementToken } from '../../../src/management/token.ts';
import { removeFolder } from '../../../src/remove-folder.ts';
import { type ManagedService, managedService, terminalCommand } from '../../support/management.ts';

let service: ManagedService;
let folder: string;

beforeAll(async () => {
  service = await managedService();
  folder = mkdtempSync(join(tmpdir(), 'analytics-transfer-'));
});
afterAll(async () => {
  await service.close();
  removeFolder(folder);
});

/** Runs `admin …args` in a shell, with a redirection. */
function shell(args: readonly string[], redirection: string, more: Readonly<Record<string, string>> = {}) {
  const { command, env } = terminalCommand(service, args);
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      '/bin/sh',
      ['-c', `${command} ${redirection}`],
      { env: { ...env, ...more } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** Begins to upload an archive, and leaves when the service reads it. Resolves with the lines that the service prints. */
async function leave(agent: string): Promise<string[]> {
  const token = await signManagementToken(service.jwtSecret, () => epochMs(Date.now()));
  const upload = request(`${service.managementUrl}/management/v1/app-imports`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/x-tar',
      'Content-Length': 5_000,
      Expect: '100-continue',
      'User-Agent': agent,
    },
  });
  upload.on('error', () => undefined);
  upload.on('continue', () => upload.write(Buffer.alloc(1_000), () => upload.destroy()));
  upload.flushHeaders();
  const lines = (): string[] =>
    service
      .printed()
      .split('\n')
      .filter((line) => line.includes(`"${agent}"`));
  await vi.waitFor(() => expect(lines()).not.toEqual([]), { timeout: 60_000 });
  return lines();
}

test('a caller who leaves in the middle of an archive is no fault of the service', async () => {
  const { metadata } = service;
  const { accountId } = await metadata.createAccount({ name: 'Left', plan: 'pro' });
  const lines = await leave('leaver');
  expect(
    lines.filter((line) => Number(JSON.parse(line).level) >= 50 || JSON.parse(line).status >= 500),
  ).toEqual([]);
  expect(await metadata.listAudit(accountId)).toEqual([]);
});

/** The engine has files open, too, and a process has a limit. */
const MOST_OTHERS = 300;

test('a file that is opened while a caller leaves stays open', async () => {
  for (let caller = 0; caller < 20; caller++) {
    const others: number[] = [];
    const opening = setInterval(() => {
      for (let n = 0; n < 10 && others.length < MOST_OTHERS; n++) others.push(openSync('/dev/null', 'r'));
    }, 1);
    await leave(`leaver-${caller}`);
    clearInterval(opening);
    // Throws if the number is closed.
    for (const file of others) closeSync(file);
    expect(others).not.toEqual([]);
  }
});

test('an app is exported and imported by the command line', async () => {
  const { metadata } = service;
  const account = await metadata.createAccount({ name: 'Acme', plan: 'pro' });
  const { apiKey } = await metadata.createKey(account.accountId, { expiresAt: null });
  const principal = await metadata.authenticate(apiKey);
  if (principal === null) throw new Error('the key is unknown');
  const app = await metadata.createApp(principal, { name: 'Shop', domain: 'https://shop.example' });
  const other = await metadata.createAccount({ name: 'Other', plan: 'pro' });
  const file = join(folder, 'app.tar');

  expect(await shell(['app', 'export', '--app', app.id], `> ${file}`)).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  const target = ['--account', other.accountId];
  const imported = await shell(['app', 'import', ...target, '--as-new'], `< ${file}`);
  expect(imported).toMatchObject({ code: 0, stderr: '' });
  const { appId: id, ...rest } = JSON.parse(imported.stdout);
  expect(rest).toEqual({
    accountId: other.accountId,
    name: 'Shop',
    domain: 'https://shop.example',
    events: 0,
    secretKey: expect.stringMatching(/^app_secret_/),
  });
  expect((await metadata.listApps(other.accountId)).map((each) => each.id)).toEqual([id]);
  expect((await metadata.listAudit(account.accountId))[0]?.action).toMatch(/^app\.(export|create)$/);

  const taken = await shell(['app', 'import', ...target], `< ${file}`);
  expect(taken).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--as-new') });
  truncateSync(file, statSync(file).size - 1_500);
  const cut = await shell(['app', 'import', ...target], `< ${file}`);
  expect(cut).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Nothing was imported: it is no tar archive, or ends too early'),
  });
  const unknown = await shell(['app', 'export', '--app', other.accountId], `> ${file}`);
  expect(unknown).toMatchObject({ code: 1, stderr: `--app: There is no app ${other.accountId}.\n` });
  expect(statSync(file).size).toBe(0);
});

test('an import that is refused at once says why, however large the archive', async () => {
  const other = { MANAGEMENT_JWT_SECRET: 'another secret of at least 32 characters' };
  expect(await shell(['app', 'import'], '< /dev/zero', other)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('refused the token'),
  });
});
