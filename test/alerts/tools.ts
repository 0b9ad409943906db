import { spawnSync } from 'node:child_process';

const TOOLS = ['prometheus', 'promtool', 'redis-server'];
/** Debian's package `prometheus` has promtool. */
const PACKAGE: Readonly<Record<string, string>> = { promtool: 'prometheus' };

/** Runs before all tests of this folder. Ends the run in one line if a tool is missing. */
export function setup(): void {
  const missing = TOOLS.filter((tool) => spawnSync(tool, ['--version']).status !== 0);
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((tool) => PACKAGE[tool] ?? tool))];
  process.stderr.write(
    `Missing: ${missing.join(', ')}. On Debian: sudo apt-get install --no-install-recommends ${packages.join(' ')}\n`,
  );
  process.exit(1);
}
