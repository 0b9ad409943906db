import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface Options {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The variables of npm's own run, which would change what a command in another folder does, are left out. */
export const plainEnv = (path = process.env['PATH'] ?? ''): Record<string, string> => ({
  PATH: path,
  HOME: process.env['HOME'] ?? '',
  npm_config_update_notifier: 'false',
  // npm's own warnings would come before a command's words.
  npm_config_loglevel: 'error',
});

/** Runs a command to its end. */
export function run(command: string, args: readonly string[], { cwd, env = plainEnv() }: Options) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** Returns the standard output of a command. Throws with all of its output if it fails. */
export function expectDone(command: string, args: readonly string[], options: Options): string {
  const { status, stdout, stderr } = run(command, args, options);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`);
  return stdout;
}

/** The version of Node that runs this. */
export const OWN_NODE = process.versions.node.replace(/\..*/, '');

/** The folder of the program, by the version of Node on which the packages are tested. */
export const NODES: Readonly<Record<string, string>> = Object.fromEntries([
  [OWN_NODE, join(process.execPath, '..')],
  ...['22', '24'].map((version) => [version, runtime(version)]),
]);

/** The folder of a Node that is too old for the service. */
export const oldNode = (): string => runtime('18');
/** The client and the SDK run on the newest one, too, which the engine does not know yet. */
export const CLIENT_NODES: Readonly<Record<string, string>> = { ...NODES, 26: runtime('26') };

function runtime(version: string): string {
  const name = `node${version}-${process.platform}-${process.arch}`;
  const folder = join(import.meta.dirname, 'runtimes/node_modules', name, 'bin');
  if (!existsSync(folder)) {
    throw new Error(`There is no ${name}: run npm ci --prefix test/packages/runtimes.`);
  }
  return folder;
}

/** The environment in which `node` and `npx` are those of a version. */
export const envOf = (version: string): Record<string, string> =>
  plainEnv(`${CLIENT_NODES[version]}:${process.env['PATH']}`);
