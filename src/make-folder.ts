import { existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './domain/thrown.ts';

/** Only the service's own user enters the folders that it makes: they hold secrets and data about visitors. */
export const OWN_FOLDER = 0o700;

/**
 * Creates a folder and its missing parents, for this user alone. Throws the system's error. Node's own `recursive` never returns
 * if the parent exists and accepts no folder (/proc, a dangling link): it creates the parent, finds that it
 * exists, and tries again.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: OWN_FOLDER });
  } catch (error) {
    if (existsSync(path) && statSync(path).isDirectory()) return;
    const above = dirname(path);
    const isMissing = codeOf(error) === 'ENOENT';
    if (!isMissing || lstatSync(above, { throwIfNoEntry: false }) !== undefined) throw error;
    makeFolder(above);
    makeFolder(path);
  }
}
