import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { removeFolder } from '../../src/remove-folder.ts';
import { endTogether } from './end-together.ts';
import { scriptBeside } from './program.ts';

/** A bridge in its own process on its own folder. */
export interface BridgeProcess {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** The name of the cluster that it is; empty for none. */
  readonly cluster: string;
  /** Settings with which a service uses it. */
  readonly settings: Readonly<Record<string, string>>;
  /** SIGSTOP and SIGCONT: the server accepts connections and does not answer. */
  hang(): void;
  resume(): void;
  /** Ends it as a server is stopped. Its folder stays. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const OF_ALL = process.env['STORE'] === 'cluster' ? 'analytics' : '';
const { loader, path: MAIN } = scriptBeside(import.meta.url, 'bridge-main');

/**
 * Resolves when the bridge listens, on any free port. `close` ends the process and removes the folder. `cluster`: the
 * name of a cluster of two shards that the bridge then is; none by default, but with `npm run test:cluster`.
 * `zookeeper`: a port. `folder`: that of a bridge that was stopped; a new one by default.
 */
export async function bridgeProcess(
  port = 0,
  cluster = OF_ALL,
  zookeeper = '',
  folder = mkdtempSync(join(tmpdir(), 'analytics-bridge-')),
): Promise<BridgeProcess> {
  const access = { username: 'default', password: 'bridge' };
  const bridge = spawn(process.execPath, [...loader, MAIN, folder, '127.0.0.1', String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: '16',
      CLICKHOUSE_USER: access.username,
      CLICKHOUSE_PASSWORD: access.password,
      BRIDGE_CLUSTER: cluster,
      BRIDGE_ZOOKEEPER: zookeeper,
    },
  });
  const leave = endTogether(bridge);
  const ended = once(bridge, 'exit');
  const url = await firstLine(bridge);
  return {
    url,
    ...access,
    cluster,
    settings: {
      CLICKHOUSE_URL: url,
      CLICKHOUSE_USER: access.username,
      CLICKHOUSE_PASSWORD: access.password,
      ...(cluster === '' ? {} : { CLICKHOUSE_CLUSTER: cluster }),
    },
    hang: () => void bridge.kill('SIGSTOP'),
    resume: () => void bridge.kill('SIGCONT'),
    stop: async () => {
      leave();
      bridge.kill('SIGTERM');
      await ended;
    },
    close: async () => {
      leave();
      bridge.kill('SIGKILL');
      await ended;
      removeFolder(folder);
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the process ended before it printed a line');
}
