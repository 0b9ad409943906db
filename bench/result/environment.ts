import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../test/support/program.ts';
import type { Environment } from './schema.ts';

export const load = (): number => Math.round((loadavg()[0] ?? 0) * 100) / 100;

/** Describes this machine and this version. `target`: the address of a deployment. */
export function environment(target: string | null): Environment {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const now = load();
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round((totalmem() / 1024 ** 3) * 10) / 10,
    system: `${type()} ${release()}`,
    node: process.version,
    engine: engine(),
    version,
    commit: existsSync(join(ROOT, '.git')) ? output('git', ['rev-parse', '--short=12', 'HEAD']) : null,
    loadBefore: now,
    loadAfter: now,
    target,
  };
}

/** Asked in another process, because an engine binds a process to one folder. */
function engine(): string | null {
  const script = "import('chdb').then(({ query }) => console.log(query('SELECT version()', 'TSV')))";
  const version = output(process.execPath, ['--input-type=module', '-e', script]);
  return version === null ? null : `ClickHouse ${version}`;
}

/** Null if the command fails, or says nothing. */
function output(command: string, args: readonly string[]): string | null {
  try {
    const text = execFileSync(command, args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.trim() === '' ? null : text.trim();
  } catch {
    return null;
  }
}
