import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { sql } from '../../src/clickhouse/sql.ts';
import { CLICKHOUSE_IMAGE, REDIS_IMAGE } from '../support/containers.ts';
import { testRedis } from '../support/redis.ts';
import { testStore } from '../support/store.ts';

test('docker-compose.yml runs the images of the tests', () => {
  const compose = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
  const images = [...compose.matchAll(/^ {4}image: (\S+)$/gm)].map(([, image]) => image);
  expect(images).toContain(CLICKHOUSE_IMAGE);
  expect(images).toContain(REDIS_IMAGE);
});

test('images are pinned by a version', () => {
  for (const image of [CLICKHOUSE_IMAGE, REDIS_IMAGE]) expect(image).toMatch(/^[a-z/-]+:\d+\.\d+/);
});

test('each test gets its own empty, migrated store, also in parallel', async () => {
  const [one, two] = [await testStore(), await testStore()];
  try {
    const row = { version: 9_999, name: 'only in one', checksum: '' };
    await one.db.insert('schema_migrations', [row]);
    const count = async (store: typeof one) => {
      const statement = sql`SELECT count() AS rows FROM schema_migrations WHERE version = 9999`;
      return (await store.db.queryOne({ name: 'count', sql: statement, row: z.object({ rows: z.number() }) }))
        .rows;
    };
    expect([await count(one), await count(two)]).toEqual([1, 0]);
  } finally {
    await one.close();
    await two.close();
  }
});

test('a test gets a Redis', async () => {
  const redis = await testRedis();
  const client = new Redis(redis.url);
  try {
    expect(await client.ping()).toBe('PONG');
  } finally {
    client.disconnect();
    await redis.close();
  }
});
