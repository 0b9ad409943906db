import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mountedFolder } from '../faults/folders.ts';
import { type LocalRedis, localRedis } from '../support/redis.ts';
import { panelQueries } from '../support/watching.ts';
import { recordOld, type Watched, watched } from './watched.ts';

/* The dashboard and the alerts on a service with the embedded store, on a disk of its own. */

let redis: LocalRedis;
let disk: ReturnType<typeof mountedFolder>;
let all: Watched;

beforeAll(async () => {
  redis = await localRedis();
  disk = mountedFolder('size=512m');
  all = await watched({ DATA_DIR: join(disk.path, 'data'), REDIS_URL: redis.url });
  await all.backUp(join(disk.path, 'backup'));
});
afterAll(async () => {
  await all?.close();
  disk?.remove();
  await redis?.close();
});

test('every query of the dashboard has a value', async () => {
  const { service, prometheus } = all;
  const queries = panelQueries('1m');
  const emptyOnes = async (): Promise<object[]> => {
    // Something to seal: the times of stretches have a value while hours are sealed.
    await recordOld(service, (await service.newTenant()).app);
    const empty = [];
    for (const query of queries) if ((await prometheus.query(query.expr)).length === 0) empty.push(query);
    return empty;
  };
  await expect.poll(emptyOnes, { timeout: 90_000, interval: 1_000 }).toEqual([]);
});

test('AnalyticsRedisAway: Redis is killed', async () => {
  await all.isQuiet();
  await redis.kill();
  await all.fires('AnalyticsRedisAway');
  await redis.start();
  await all.isQuiet();
});

test.each([
  ['AnalyticsDiskLow', 0.1],
  ['AnalyticsDiskAlmostFull', 0.03],
])('%s: a file leaves %d of the disk', async (alert, share) => {
  await all.isQuiet();
  const { bsize, blocks, bavail } = statfsSync(disk.path);
  const file = join(disk.path, 'a-large-file');
  writeFileSync(file, Buffer.alloc(bsize * Math.floor(bavail - blocks * share)));
  await all.fires(alert);
  rmSync(file);
  await all.isQuiet();
});

test('AnalyticsEventLoopLate: the process gets hardly any time', async () => {
  await all.isQuiet();
  const ending = new AbortController();
  const stops = (async () => {
    while (!ending.signal.aborted) {
      all.service.hang();
      await sleep(300);
      all.service.resume();
      await sleep(30);
    }
  })();
  try {
    await all.fires('AnalyticsEventLoopLate');
  } finally {
    ending.abort();
    await stops;
  }
  await all.isQuiet();
});

test('AnalyticsProcessDown: the process hangs', async () => {
  await all.isQuiet();
  all.service.hang();
  try {
    await all.fires('AnalyticsProcessDown');
  } finally {
    all.service.resume();
  }
  await all.isQuiet();
});
