import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inProcessLocks } from '../../src/domain/locks.ts';
import { RedisLink } from '../../src/redis/link.ts';
import { createRedisLocks } from '../../src/redis/locks.ts';
import { type LocalRedis, localRedis } from '../support/redis.ts';

let redis: LocalRedis;
let links: RedisLink[];
/** Locks of two processes. */
let one: ReturnType<typeof createRedisLocks>;
let two: ReturnType<typeof createRedisLocks>;

beforeAll(async () => {
  redis = await localRedis();
  links = [new RedisLink(redis.url), new RedisLink(redis.url)];
  await Promise.all(links.map((link) => link.firstContact(5_000)));
  const [first, second] = links.map((link) => createRedisLocks(link, inProcessLocks()));
  if (first === undefined || second === undefined) throw new Error('two links');
  [one, two] = [first, second];
});
afterAll(async () => {
  for (const link of links) await link.close();
  await redis.close();
});

test('one holder at a time, in one process and between two', async () => {
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    inside++;
    most = Math.max(most, inside);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside--;
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? one : two).withLock('name', work)));
  expect(most).toBe(1);
});

test('who waits for a holder in another process has as much patience as it asks for', async () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  await one.withLock('name', async () => {
    await expect(two.withLock('name', async () => 1, 0)).rejects.toMatchObject({ code: 'overloaded' });
  });
  const holding = one.withLock('name', () => ended);
  const patient = two.withLock('name', async () => 2, 60_000);
  end();
  await holding;
  expect(await patient).toBe(2);
});

test('released after a failure too, and never by another holder', async () => {
  await expect(
    one.withLock('name', async () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  const client = new Redis(redis.url);
  expect(await client.keys('analytics:lock:*')).toEqual([]);
  await one.withLock('name', async () => {
    const [key = ''] = await client.keys('analytics:lock:*');
    expect(key).toMatch(/^analytics:lock:[0-9a-f]{32}$/);
    expect(await client.pttl(key)).toBeGreaterThan(0);
    // As if the lock had expired and another process had taken it.
    await client.set(key, 'another');
  });
  expect(await client.keys('analytics:lock:*')).toHaveLength(1);
  await client.flushall();
  client.disconnect();
});

test('without Redis nothing is locked and the work does not run', async () => {
  await redis.kill();
  let done = false;
  const attempt = one.withLock('name', async () => {
    done = true;
  });
  await expect(attempt).rejects.toMatchObject({ code: 'store_unavailable', retryAfterSeconds: 2 });
  expect(done).toBe(false);
});
