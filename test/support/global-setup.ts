import { spawnSync } from 'node:child_process';
import { CHROMIUM } from '../browser/chromium.ts';
import { startContainers } from './containers.ts';

const PROGRAMS = { 'redis-server': 'redis-server', chromium: CHROMIUM };

/** Before any test: names the programs that are missing, and with STORE=containers starts the containers. */
export async function setup(): Promise<() => Promise<void>> {
  nameMissing();
  if (process.env['STORE'] !== 'containers') return async () => nameMissing();
  const containers = await startContainers();
  // The test processes inherit this environment.
  Object.assign(process.env, containers.environment);
  return containers.stop;
}

/** In one line; the tests that need none of them run all the same. */
function nameMissing(): void {
  const missing = Object.entries(PROGRAMS)
    .filter(([, path]) => spawnSync(path, ['--version']).status !== 0)
    .map(([name]) => name);
  if (missing.length === 0) return;
  process.stderr.write(
    `Missing: ${missing.join(', ')}. The tests that need them fail; on Debian: sudo apt-get install ${missing.join(' ')}\n`,
  );
}
