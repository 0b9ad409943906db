import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { removeFolder } from '../../src/remove-folder.ts';
import { endTogether } from './end-together.ts';

/** A Redis for a test. Other tests may use it too, with other keys. */
export interface TestRedis {
  readonly url: string;
  close(): Promise<void>;
}

/** A Redis that only one test uses and may break. Its port never changes. */
export interface LocalRedis extends TestRedis {
  /** Starts it (empty) and resolves when it answers. */
  start(): Promise<void>;
  /** SIGKILL: connections are reset, all data is lost. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open without answers. */
  hang(): void;
  /** SIGCONT. */
  resume(): void;
  /** Runs one command, as an operator would. */
  command(name: string, ...args: string[]): Promise<void>;
  /** FLUSHALL and SCRIPT FLUSH: keys and loaded scripts are gone, connections stay. */
  flush(): Promise<void>;
}

/** Uses REDIS_URL (set by hand, or the test run's container), otherwise starts a local redis-server. */
export async function testRedis(): Promise<TestRedis> {
  const url = process.env['REDIS_URL'];
  return url ? { url, close: async () => undefined } : localRedis();
}

/** A redis-server on a free port of this machine; it runs unless `started` is false. */
export async function localRedis({ started = true } = {}): Promise<LocalRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'analytics-redis-'));
  let server: ChildProcess | null = null;
  let leave = (): void => undefined;

  const kill = async (): Promise<void> => {
    if (server === null) return;
    const ended = new Promise((resolve) => server?.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
    leave();
    server = null;
  };
  const start = async (): Promise<void> => {
    if (server !== null) return;
    server = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder],
      // Detached: the terminal's Ctrl+C is not for it, but for its user, who stops it.
      { stdio: 'ignore', detached: true },
    );
    leave = endTogether(server);
    // Rejects if the program is missing.
    await once(server, 'spawn');
    await withClient(url, async (client) => client.ping());
  };
  if (started) {
    await start().catch((error: unknown) => {
      leave();
      removeFolder(folder);
      throw error;
    });
  }

  return {
    url,
    start,
    kill,
    hang: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    command: (name, ...args) => withClient(url, (client) => client.call(name, ...args)),
    flush: () =>
      withClient(url, async (client) => {
        await client.flushall();
        await client.script('FLUSH');
      }),
    close: async () => {
      await kill();
      removeFolder(folder);
    },
  };
}

/** The ports of programs. The system gives connections those above, and clients refuse some of those below. */
const PORTS = { from: 11_000, below: 32_000 } as const;

/** Returns a port that was free a moment ago, and that the system gives to nobody meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.below - PORTS.from));
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer().once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/** Waits for the server to answer; the client's own queue and reconnects do the waiting. */
async function withClient(url: string, work: (client: Redis) => Promise<unknown>): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: 500 });
  // Connections are refused until the server listens.
  client.on('error', () => undefined);
  try {
    await work(client);
  } finally {
    client.disconnect();
  }
}
