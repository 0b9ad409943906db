import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backupOf, restoreFrom } from '../../../src/cli/backups.ts';
import { managementClient } from '../../../src/cli/management-client.ts';
import { readConfig } from '../../../src/config.ts';
import { epochMs } from '../../../src/domain/time.ts';
import { removeFolder } from '../../../src/remove-folder.ts';
import { SECRET } from '../../faults/support.ts';
import { type TestService, testService } from '../support.ts';

const folder = mkdtempSync(join(tmpdir(), 'analytics-backups-'));
let service: TestService;
beforeAll(async () => {
  service = await testService({ env: { SEAL_INTERVAL_SECONDS: '1', MANAGEMENT_JWT_SECRET: SECRET } });
});
afterAll(async () => {
  await service.close();
  removeFolder(folder);
});

const config = () =>
  readConfig({ MANAGEMENT_JWT_SECRET: SECRET, MANAGEMENT_PORT: new URL(service.managementUrl).port });
const client = () => managementClient(config(), () => epochMs(Date.now()));
const measured = async (): Promise<string[]> =>
  (await (await fetch(`${service.managementUrl}/metrics`)).text())
    .split('\n')
    .filter((line) => line.startsWith('analytics_backup_'));

test('the command makes a backup; the metrics are absent before the first one', async () => {
  expect(await client().call('GET', '/backups')).toEqual({ made: null, failed: null });
  expect(await measured()).toEqual([]);
  const path = join(folder, 'first');
  const backup = await backupOf(path, config());
  expect(backup).toMatchObject({ path, state: 'made', error: null });
  expect(readdirSync(path)).toContain('.backup');
  expect(await client().call('GET', '/backups')).toMatchObject({ made: { path }, failed: null });
  await expect.poll(measured).toHaveLength(3);

  await expect(backupOf(path, config())).rejects.toThrow(
    'No backup was made. There is a backup in this folder already: name another folder.',
  );
  await expect
    .poll(measured)
    .toEqual(
      expect.arrayContaining([
        expect.stringMatching(/outcome="failed"/),
        expect.stringMatching(/outcome="made"/),
      ]),
    );
});

test('one line says what is wrong with a request', async () => {
  const begun = (body: object) => client().call('POST', '/backups', body);
  await expect(begun({ path: 'relative' })).rejects.toThrow(
    'path: Must be an absolute path without quotes and backslashes.',
  );
  await expect(begun({ path: "/tmp/'quoted'" })).rejects.toThrow('without quotes');
  await expect(client().call('GET', '/backups/7be0c9d4-51f3-4d0a-8c66-e2a94b1f3057')).rejects.toThrow(
    'This process has made no such backup.',
  );
  await expect(backupOf('/dev/null/nothing', config())).rejects.toThrow(
    /^No backup was made. The store could not make it: /,
  );
  await expect(restoreFrom(`/tmp/'quoted'`, config())).rejects.toThrow('without quotes');
});
