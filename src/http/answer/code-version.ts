import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readMigrations } from '../../clickhouse/migrate.ts';

/** The program that runs: src, or the folder that it was compiled to. */
const PROGRAM = fileURLToPath(new URL('../..', import.meta.url));
/** Files that a build adds for people: they may differ between two builds of the same sources. */
const NEVER_RUN = /\.(d\.ts|map)$/;
/** Names the exact version of the engine and of each library. */
const PACKAGE = new URL('../../../package.json', import.meta.url);

/**
 * Returns the version of the code: the same in every process that runs the same files. It is part of every
 * tag, because other code may answer differently from the same data. Every file counts, because no list of
 * those that matter stays complete.
 */
export function codeVersion(): string {
  const hash = createHash('sha256');
  const add = (name: string, content: string | Buffer): void => {
    hash.update(`${name} ${content.length}\n`).update(content);
  };
  for (const file of filesIn(PROGRAM)) add(relative(PROGRAM, file), readFileSync(file));
  for (const { version, name, checksum } of readMigrations()) add(`${version} ${name}`, checksum);
  add('package.json', readFileSync(PACKAGE));
  return hash.digest('base64url').slice(0, 16);
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !NEVER_RUN.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
