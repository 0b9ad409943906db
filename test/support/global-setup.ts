import { spawnSync } from 'node:child_process';
import { buildIfNeeded } from '../../deploy/build/build.js';
import { CHROMIUM } from '../browser/chromium.ts';
import { FIREFOX } from '../browser/firefox.ts';
import { bridgeProcess } from './bridge-process.ts';
import { hasDocker, startContainers } from './containers.ts';

const PROGRAMS = {
  'redis-server': 'redis-server',
  // No test of `npm test` opens a browser.
  ...(process.env['TESTS'] === 'quick' ? {} : { chromium: CHROMIUM, 'firefox-esr': FIREFOX }),
};

/**
 * Runs before all tests. Names missing programs, builds dist/, which tests of whole processes run, and starts the
 * store that STORE names: containers, or cluster, the bridge as two shards.
 */
export async function setup(): Promise<() => Promise<void>> {
  const inContainers = process.env['STORE'] === 'containers';
  if (inContainers && !(await hasDocker())) {
    process.stderr.write(
      'No Docker engine answers. `npm run test:containers` needs one: start it, or set DOCKER_HOST.\n',
    );
    process.exit(1);
  }
  nameMissing();
  await buildIfNeeded();
  if (process.env['STORE'] === 'cluster') return startCluster();
  if (!inContainers) return async () => nameMissing();
  const containers = await startContainers();
  // The test processes inherit this environment.
  Object.assign(process.env, containers.environment);
  return containers.stop;
}

async function startCluster(): Promise<() => Promise<void>> {
  const bridge = await bridgeProcess(0, 'analytics');
  Object.assign(process.env, bridge.settings);
  return bridge.close;
}

/** Names missing programs in one line. Tests that need none of them still run. */
function nameMissing(): void {
  const missing = Object.entries(PROGRAMS)
    .filter(([, path]) => spawnSync(path, ['--version']).status !== 0)
    .map(([name]) => name);
  if (missing.length === 0) return;
  process.stderr.write(
    `Missing: ${missing.join(', ')}. The tests that need them fail; on Debian: sudo apt-get install ${missing.join(' ')}\n`,
  );
}
