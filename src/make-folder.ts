import { existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it that are missing; throws what the system says. Node's own `recursive` never returns
 * where the folder above is there and takes none (/proc, a dangling link): it makes the one above, finds it there, and
 * tries again.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (existsSync(path) && statSync(path).isDirectory()) return;
    const above = dirname(path);
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing || lstatSync(above, { throwIfNoEntry: false }) !== undefined) throw error;
    makeFolder(above);
    makeFolder(path);
  }
}
