import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { startContainers } from './containers.ts';

/** Before any test: a redis-server on this machine, and with STORE=containers the containers. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  ensureRedisServer();
  if (process.env['STORE'] !== 'containers') return undefined;
  const containers = await startContainers();
  // The test processes inherit this environment.
  Object.assign(process.env, containers.environment);
  return containers.stop;
}

const hasRedisServer = (): boolean => spawnSync('redis-server', ['--version']).status === 0;

function ensureRedisServer(): void {
  if (hasRedisServer()) return;
  const debianAsRoot = process.getuid?.() === 0 && existsSync('/etc/debian_version');
  if (debianAsRoot) {
    process.stderr.write('Installing redis-server for the tests\n');
    const apt = (...args: string[]) =>
      spawnSync('apt-get', ['-qq', '-y', '-o', 'Acquire::Retries=3', ...args], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      });
    apt('update');
    apt('install', '--no-install-recommends', 'redis-server');
    if (hasRedisServer()) return;
  }
  throw new Error(
    'The tests need redis-server on the PATH: install it, e.g. "sudo apt-get install redis-server".',
  );
}
