import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expectDone } from './commands.ts';

/** A package in a lock file. */
interface Locked {
  readonly dev?: true;
  readonly optional?: true;
  readonly bin?: Readonly<Record<string, string>>;
}

/** Creates a folder outside the repository, so that nothing of the repository's node_modules is found from there. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'analytics-installed-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', private: true }));
  return folder;
}

/** Installs tarballs without the network. npm fails if a package is needed that is not in the folder. */
export function install(folder: string, tarballs: readonly string[], ...more: readonly string[]): void {
  expectDone('npm', ['install', '--offline', '--no-audit', '--no-fund', ...more, ...tarballs], {
    cwd: folder,
  });
}

/**
 * Puts the service's production packages into `folder`, as npm would have downloaded them. They are links to the
 * files of the repository's node_modules, which is itself installed from the lock file.
 */
export function bringProductionPackages(folder: string, { optional }: { readonly optional: boolean }): void {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const brought = Object.entries(packages).filter(
    ([path, { dev, optional: isOptional }]) =>
      path !== '' && dev === undefined && (optional || isOptional === undefined) && existsSync(path),
  );
  for (const [path] of brought) linkFolder(resolve(path), join(folder, path));
  mkdirSync(join(folder, 'node_modules/.bin'));
  for (const [path, { bin = {} }] of brought) {
    for (const [name, file] of Object.entries(bin)) {
      symlinkSync(join(folder, path, file), join(folder, 'node_modules/.bin', name));
    }
  }
  const lock = { name: 'empty', lockfileVersion: 3, requires: true, packages: Object.fromEntries(brought) };
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify(lock));
}

/** Without the packages inside it, which are listed by themselves. */
export function linkFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules') linkFolder(source, target);
    } else linkFile(source, target);
  }
}

function linkFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Another file system.
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(from, to);
  }
}
