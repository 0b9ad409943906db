import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { bridgeProcess } from '../support/bridge-process.ts';
import { program } from '../support/program.ts';
import { freePort, localRedis } from '../support/redis.ts';
import { atEnd, folder } from './folders.ts';
import { SECRET } from './support.ts';

const REDIS_PASSWORD = 'p@ss:w/rd%41';

interface Start {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<number | null>;
  /** Resolves to the first line from now on that matches. */
  next(pattern: RegExp): Promise<string>;
}

async function start(env: Record<string, string>): Promise<Start> {
  const child = spawn(await program(), ['serve'], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      MANAGEMENT_PORT: '0',
      MANAGEMENT_JWT_SECRET: SECRET,
      DATA_DIR: folder(),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close').then(([code]): number | null =>
    typeof code === 'number' ? code : null,
  );
  atEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const lines: string[] = [];
  const waiting = new Set<(line: string) => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const look of waiting) look(line);
    });
  }
  const next = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (line: string): void => {
        if (!pattern.test(line)) return;
        waiting.delete(look);
        resolve(line);
      };
      waiting.add(look);
      void ended.then(() => reject(new Error(`the service ended:\n${lines.join('\n')}`)));
    });
  return { child, lines, ended, next };
}

/** The lines of a start that waits, without those of the engine. */
const waitingLines = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /"msg":"(waiting for [^"]*)"/.exec(line)?.[1] ?? []);

test('a start waits for its store and Redis, with a line a second that names the missing ones', async () => {
  const redis = await localRedis({ started: false });
  atEnd(() => redis.close());
  const port = await freePort();
  const { hostname, port: redisPort } = new URL(redis.url);
  const service = await start({
    CLICKHOUSE_URL: `http://127.0.0.1:${port}`,
    CLICKHOUSE_PASSWORD: 'bridge',
    REDIS_URL: redis.url,
    PUBLIC_API_REPLICAS: '2',
  });
  const both = /waiting for the store \(connect ECONNREFUSED [^)]*\) and Redis at 127\.0\.0\.1:\d+"/;
  await service.next(both);
  await service.next(both);
  await redis.start();
  expect(await service.next(/waiting for the store \([^)]*\)"/)).not.toContain('Redis');
  const listening = service.next(/"msg":"listening"/);
  const bridge = await bridgeProcess(port);
  atEnd(() => bridge.close());
  await listening;
  expect(waitingLines(service.lines)[0]).toContain(`Redis at ${hostname}:${redisPort}`);
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
});

test('Redis alone is waited for too, and a wrong password is named as a reason', async () => {
  const redis = await localRedis();
  atEnd(() => redis.close());
  await redis.command('CONFIG', 'SET', 'requirepass', REDIS_PASSWORD);
  const bridge = await bridgeProcess();
  atEnd(() => bridge.close());
  const settings = { CLICKHOUSE_URL: bridge.url, CLICKHOUSE_PASSWORD: bridge.password, REDIS_URL: redis.url };
  const refused = await start({ ...settings, REDIS_PASSWORD: 'wrong', STORE_WAIT_SECONDS: '5' });
  expect(await refused.ended).toBe(1);
  expect(waitingLines(refused.lines).at(-1)).toMatch(/^waiting for Redis at 127\.0\.0\.1:\d+$/);
  // The log is another stream: its last line may come after this one.
  expect(refused.lines.join('\n')).toMatch(
    /^Redis at 127\.0\.0\.1:\d+ does not answer, or refuses the password\. Check that it runs, REDIS_URL and REDIS_PASSWORD\. Waited for 5 s \(STORE_WAIT_SECONDS\)\.$/m,
  );
  const service = await start({ ...settings, REDIS_PASSWORD });
  await service.next(/"msg":"listening"/);
});

test('after the wait one line says what is missing, and the exit code is 1', async () => {
  const [port, redisPort] = [await freePort(), await freePort()];
  const { lines, ended } = await start({
    CLICKHOUSE_URL: `http://127.0.0.1:${port}`,
    REDIS_URL: `redis://:hunter2@127.0.0.1:${redisPort}`,
    STORE_WAIT_SECONDS: '3',
  });
  expect(await ended).toBe(1);
  expect(waitingLines(lines).length).toBeGreaterThan(0);
  expect(lines).toContain(
    `Cannot open the store at http://127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}. ` +
      'Check that it runs, CLICKHOUSE_URL, CLICKHOUSE_USER and CLICKHOUSE_PASSWORD. ' +
      `Redis at 127.0.0.1:${redisPort} does not answer, or refuses the password. ` +
      'Check that it runs, REDIS_URL and REDIS_PASSWORD. Waited for 3 s (STORE_WAIT_SECONDS).',
  );
  expect(lines.join()).not.toContain('hunter2');
});

test('a store that is silent ends the wait too', async () => {
  const bridge = await bridgeProcess();
  atEnd(() => bridge.close());
  bridge.hang();
  const { lines, ended } = await start({ CLICKHOUSE_URL: bridge.url, STORE_WAIT_SECONDS: '1' });
  expect(await ended).toBe(1);
  expect(lines.join('\n')).toMatch(
    /^Cannot open the store at http:.*: no answer\. Waited for 1 s \(STORE_WAIT_SECONDS\)\.$/m,
  );
});

test('a store that refuses the password is not waited for', async () => {
  const bridge = await bridgeProcess();
  atEnd(() => bridge.close());
  const { lines, ended } = await start({ CLICKHOUSE_URL: bridge.url, CLICKHOUSE_PASSWORD: 'wrong' });
  expect(await ended).toBe(1);
  expect(waitingLines(lines).join()).not.toContain('Authentication');
  expect(lines.join('\n')).not.toContain('Waited for');
  expect(lines.join('\n')).toMatch(/^Cannot open the store at .*Authentication failed.*Check that it runs/m);
});
