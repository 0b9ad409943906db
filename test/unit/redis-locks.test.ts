import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { type AssertHeld, inProcessLocks } from '../../src/domain/locks.ts';
import { RedisLink } from '../../src/redis/link.ts';
import { createRedisLocks } from '../../src/redis/locks.ts';
import { deferred } from '../support/deferred.ts';
import { type LocalRedis, localRedis } from '../support/redis.ts';

let redis: LocalRedis;
let links: RedisLink[];
/** Redis may answer late on a busy machine. Then it counts as away for a moment. */
const again = async <T>(work: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'store_unavailable') throw error;
      await sleep(100);
    }
  }
};

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
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => again(() => (i % 2 ? one : two).withLock('name', work))),
  );
  expect(most).toBe(1);
});

test('who waits for a holder in another process has as much patience as it asks for', async () => {
  const ended = deferred();
  await one.withLock('name', async () => {
    await expect(two.withLock('name', async () => 1, 0)).rejects.toMatchObject({ code: 'overloaded' });
  });
  const holding = one.withLock('name', () => ended.promise);
  const patient = two.withLock('name', async () => 2, 60_000);
  ended.resolve();
  await holding;
  expect(await patient).toBe(2);
});

test('who has much patience also waits for a late Redis', async () => {
  redis.hang();
  await expect(one.withLock('one', async () => 1)).rejects.toMatchObject({ code: 'store_unavailable' });
  const patient = two.withLock('two', async () => 2, 60_000);
  await sleep(1_000);
  redis.resume();
  expect(await patient).toBe(2);
  await redis.flush();
});

test('a lock that a late answer took is given back', async () => {
  redis.hang();
  await expect(one.withLock('given back', async () => 1)).rejects.toMatchObject({
    code: 'store_unavailable',
  });
  redis.resume();
  // It would be taken for 10 s, and callers wait for 5 s.
  expect(await two.withLock('given back', async () => 2, 60_000)).toBe(2);
  const client = new Redis(redis.url);
  await expect.poll(() => client.keys('analytics:lock:*')).toEqual([]);
  client.disconnect();
});

test('released after a failure too, and never by another holder', async () => {
  await expect(
    one.withLock('name', async () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  const client = new Redis(redis.url);
  await expect.poll(() => client.keys('analytics:lock:*')).toEqual([]);
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

const isHeldBy = (assertHeld: AssertHeld) => async (): Promise<boolean> => {
  try {
    await assertHeld();
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'store_unavailable') return false;
    throw error;
  }
};

test('a holder learns that Redis has lost its lock, and does not get it back', async () => {
  await again(() =>
    one.withLock('name', async (assertHeld) => {
      const isHeld = isHeldBy(assertHeld);
      await redis.flush();
      await expect.poll(isHeld).toBe(false);
      expect(await again(() => two.withLock('name', async () => 2))).toBe(2);
      await sleep(4_000);
      expect(await isHeld()).toBe(false);
    }),
  );
});

test('a lock that could not be renewed for as long as it lives counts as lost', async () => {
  await again(() =>
    one.withLock('name', async (assertHeld) => {
      const isHeld = isHeldBy(assertHeld);
      redis.hang();
      await expect.poll(isHeld).toBe(false);
      redis.resume();
    }),
  );
});

test('a turn of the event loop that takes long is not blamed on Redis', async () => {
  const [link] = links;
  if (link === undefined) throw new Error('no link');
  const ask = async (): Promise<string> => {
    await expect.poll(() => link.state).toBe('up');
    redis.hang();
    const answer = link.run((client) => client.ping());
    for (const end = performance.now() + 400; performance.now() < end; );
    // The command leaves before this.
    setImmediate(() => setTimeout(() => redis.resume(), 60));
    return answer;
  };
  // A busy machine may keep Redis from answering.
  await expect.poll(() => ask().catch(() => 'away')).toBe('PONG');
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
