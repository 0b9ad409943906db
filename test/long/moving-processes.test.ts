import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../src/remove-folder.ts';
import { type BridgeProcess, bridgeProcess } from '../support/bridge-process.ts';
import { newSite, storeAndAsk } from '../support/moving.ts';
import { type LocalRedis, localRedis } from '../support/redis.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';

const ROUNDS = Number(process.env['MOVING_ROUNDS'] ?? 50);

let bridge: BridgeProcess;
let redis: LocalRedis;
let folder: string;
let processes: readonly ServiceProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'analytics-moving-'));
  [bridge, redis] = await Promise.all([bridgeProcess(), localRedis()]);
  const start = (name: string): Promise<ServiceProcess> =>
    serviceProcess({
      CLICKHOUSE_URL: bridge.url,
      CLICKHOUSE_USER: bridge.username,
      CLICKHOUSE_PASSWORD: bridge.password,
      REDIS_URL: redis.url,
      DATA_DIR: join(folder, name),
      MANAGEMENT_JWT_SECRET: 'a secret of at least 32 characters',
      PUBLIC_API_REQUESTS_PER_MINUTE: '1000000',
      PUBLIC_API_REPLICAS: '2',
    });
  processes = await Promise.all([start('one'), start('two')]);
});
afterAll(async () => {
  await Promise.all(processes.map((service) => service.kill()));
  await Promise.all([bridge?.close(), redis?.close()]);
  removeFolder(folder);
});

test('answers of both processes have all acknowledged events, and no 304 confirms one without, while three poll', {
  timeout: 0,
}, async () => {
  expect(await storeAndAsk(() => newSite(processes), ROUNDS)).toEqual([]);
});
