import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { wallClock } from '../../../src/cli/wall-clock.ts';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/http/server/log.ts';
import { removeFolder } from '../../../src/remove-folder.ts';
import { type Service, startService } from '../../../src/start/service.ts';

test('a key says when it was last used, also after a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'analytics-uses-'));
  const start = (): Promise<Service> =>
    startService(readConfig({ PORT: '0', MANAGEMENT_PORT: '0', DATA_DIR: dataDir }), {
      clock: wallClock,
      log: createLog({ level: 'silent' }),
    });
  let service = await start();
  try {
    const { accountId } = await service.metadata.createAccount({ name: 'Acme', plan: 'free' });
    const { apiKey } = await service.metadata.createKey(accountId, { expiresAt: null });
    const before = Math.floor(Date.now() / 60_000) * 60_000;
    const headers = { Authorization: `Bearer ${apiKey}` };
    expect((await fetch(`${service.url}/api/v1/apps`, { headers })).status).toBe(200);
    await service.close();
    service = await start();
    const [key] = await service.metadata.listKeys(accountId);
    const used = Date.parse(key?.lastUsedAt ?? '');
    expect(used % 60_000).toBe(0);
    expect(used).toBeGreaterThanOrEqual(before);
    expect(used).toBeLessThanOrEqual(Date.now());
  } finally {
    await service.close();
    removeFolder(dataDir);
  }
});
