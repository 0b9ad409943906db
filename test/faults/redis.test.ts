import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import { type Answer, type TestService, testService } from '../http/support.ts';
import { type LocalRedis, localRedis } from '../support/redis.ts';

const LIMIT = 20;
/** The limit that a process grants alone: ceil(20 / 3). */
const SHARE = 7;
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Setup {
  readonly redis: LocalRedis;
  readonly service: TestService;
  /** A key without a window yet. */
  newKey(): Promise<string>;
  /** Repeats `work` until Redis was not away meanwhile: on a busy machine it may answer late, and counts as away. */
  undisturbed<T>(work: () => Promise<T>): Promise<T>;
  /** Expects that the whole limit passes for a new key, which it returns. */
  whole(): Promise<string>;
}

async function setup({ started = true } = {}): Promise<Setup> {
  const redis = await localRedis({ started });
  open.push(redis.close);
  const service = await testService({
    env: {
      REDIS_URL: redis.url,
      PUBLIC_API_REQUESTS_PER_MINUTE: String(LIMIT),
      PUBLIC_API_REPLICAS: '3',
    },
  });
  open.push(service.close);
  const newKey = async (): Promise<string> => (await service.newAccount()).key;
  const undisturbed = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      await until(service, 'ok');
      const before = timesAway(service);
      const result = await work();
      if (timesAway(service) === before) return result;
    }
  };
  const whole = async (): Promise<string> => {
    const [key, answers] = await undisturbed(async () => {
      const key = await newKey();
      return [key, await burst(service, key)] as const;
    });
    expectLimited(answers, LIMIT);
    return key;
  };
  return { redis, service, newKey, undisturbed, whole };
}

const timesAway = (service: TestService): number =>
  service.logged().filter(({ msg }) => String(msg).startsWith('redis is away')).length;

const burst = (service: TestService, key: string, count = 40): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, () => service.ask('/api/v1/apps', { key })));

/**
 * Expects that exactly the limit passed, that no caller got another error, and that the headers name the
 * limit.
 */
function expectLimited(answers: readonly Answer[], limit: number): void {
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(limit);
  expect(new Set(answers.map(({ headers }) => headers['x-ratelimit-limit']))).toEqual(
    new Set([String(limit)]),
  );
}

/** Returns the state of Redis in /readyz, which is 200 either way. */
async function redisSeen(service: TestService): Promise<string> {
  const answer = await service.ask('/readyz', { key: null });
  expect(answer.status).toBe(200);
  const { status, redis } = answer.json as { status: string; redis: string };
  expect(status).toBe(redis === 'away' ? 'degraded' : 'ok');
  return redis;
}

/** Waits until /readyz names the state. The duration of a reconnect is not tested. */
async function until(service: TestService, state: 'ok' | 'away'): Promise<void> {
  while ((await redisSeen(service)) !== state) await sleep(20);
}

describe('Redis', () => {
  test('up: the whole limit, under a hashed name, for 60 s from the first request', async () => {
    const { redis, service, newKey, undisturbed } = await setup();
    const answers = await undisturbed(async () => {
      await redis.flush();
      return burst(service, await newKey());
    });
    expectLimited(answers, LIMIT);
    const client = new Redis(redis.url);
    const names = await client.keys('*');
    expect(names).toHaveLength(1);
    expect(names[0]).toMatch(/^analytics:rate:[0-9a-f]{32}$/);
    const left = await client.pttl(names[0] ?? '');
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
    client.disconnect();
  });

  test('away at the start, then up', async () => {
    const { redis, service, newKey, whole } = await setup({ started: false });
    expect(await redisSeen(service)).toBe('away');
    expectLimited(await burst(service, await newKey()), SHARE);
    await redis.start();
    await until(service, 'ok');
    await whole();
  });

  test('killed and back, empty and without our scripts', async () => {
    const { redis, service, undisturbed, whole } = await setup();
    const key = await whole();
    await redis.kill();
    await until(service, 'away');
    expectLimited(await burst(service, key), SHARE);
    await redis.start();
    const back = await undisturbed(async () => {
      await redis.flush();
      return burst(service, key);
    });
    expectLimited(back, LIMIT);
  });

  test('killed during requests: no error, never unlimited', async () => {
    const { redis, service, newKey } = await setup();
    const key = await newKey();
    const requests = burst(service, key, 60);
    await redis.kill();
    const answers = await requests;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(LIMIT + SHARE);
  });

  test('hung: no request waits for it, then it is back', async () => {
    const { redis, service, newKey, whole } = await setup();
    const [second, third] = [await newKey(), await newKey()];
    await whole();
    redis.hang();
    expectLimited(await burst(service, second), SHARE);
    expect(await redisSeen(service)).toBe('away');
    expectLimited(await burst(service, third), SHARE);
    redis.resume();
    await until(service, 'ok');
    await whole();
  });

  test.each([
    ['a read-only replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    ['out of memory', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
  ])('%s: away while it accepts no writes, although it answers', async (_, [name = '', ...args], back) => {
    const { redis, service, newKey, whole } = await setup();
    const key = await whole();
    await redis.command(name, ...args);
    // Existing windows cannot grow, but are still limited.
    const answers = await burst(service, key);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(SHARE);
    // Longer than the breaker waits, so the probes fail too.
    for (let i = 0; i < 25; i++) {
      expect(await redisSeen(service)).toBe('away');
      await sleep(100);
    }
    expectLimited(await burst(service, await newKey()), SHARE);
    const [nameBack = '', ...argsBack] = back;
    await redis.command(nameBack, ...argsBack);
    await until(service, 'ok');
    await whole();
  });

  test('flushed, scripts included: a new window, the whole limit', async () => {
    const { redis, service, undisturbed, whole } = await setup();
    const key = await whole();
    const flushed = await undisturbed(async () => {
      await redis.flush();
      return burst(service, key);
    });
    expectLimited(flushed, LIMIT);
    expect(await redisSeen(service)).toBe('ok');
  });
});

test('a Redis that is not there at the start is named in the log', async () => {
  const service = await testService({ env: { REDIS_URL: 'redis://127.0.0.1:1' } });
  try {
    expect(timesAway(service)).toBeGreaterThan(0);
  } finally {
    await service.close();
  }
});
