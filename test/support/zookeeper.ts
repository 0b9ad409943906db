import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeFolder } from '../../src/remove-folder.ts';
import { endTogether } from './end-together.ts';
import { freePort } from './redis.ts';

const JAR = '/usr/share/java/zookeeper.jar';
const START_MS = 30_000;

export interface ZooKeeper {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts Debian's ZooKeeper in a folder of its own. Installs it first if it is missing and this process may. */
export async function startZooKeeper(): Promise<ZooKeeper> {
  install();
  const folder = mkdtempSync(join(tmpdir(), 'analytics-zookeeper-'));
  const port = await freePort();
  const config = join(folder, 'zoo.cfg');
  writeFileSync(
    config,
    `tickTime=2000\ndataDir=${folder}\nclientPort=${port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n`,
  );
  const server = spawn(
    'java',
    ['-Xmx64m', '-cp', JAR, 'org.apache.zookeeper.server.ZooKeeperServerMain', config],
    { stdio: 'ignore' },
  );
  const leave = endTogether(server);
  const close = async (): Promise<void> => {
    leave();
    if (server.exitCode === null) {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    }
    removeFolder(folder);
  };
  await listening(server, port).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { port, close };
}

function install(): void {
  const isThere = (): boolean => existsSync(JAR) && spawnSync('java', ['-version']).status === 0;
  if (isThere()) return;
  if (process.getuid?.() === 0) {
    const apt = (...args: string[]) =>
      spawnSync('apt-get', ['-qq', ...args], { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
    apt('update');
    apt('-y', 'install', '--no-install-recommends', 'zookeeper', 'default-jre-headless');
  }
  if (!isThere()) {
    throw new Error('ZooKeeper is missing. On Debian: sudo apt-get install zookeeper default-jre-headless');
  }
}

async function listening(server: ChildProcess, port: number): Promise<void> {
  for (const end = performance.now() + START_MS; performance.now() < end; ) {
    if (server.exitCode !== null) throw new Error(`ZooKeeper ended with ${server.exitCode}.`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await sleep(100);
  }
  throw new Error('ZooKeeper does not listen.');
}
