import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './domain/thrown.ts';

/*
 * Files that the service writes for itself. After a crash or a power cut, such a file is there as it was or as it is to
 * be, and never in part.
 */

/** A file of the service holds something else; the message says what to do. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
}

export interface OwnFileOptions {
  /** Leaves a file that is there already, and returns false. */
  readonly isNew?: boolean;
}

/** Writes the whole file, for this user alone, and waits until it is on the disk. */
export function writeOwnFile(path: string, text: string, { isNew = false }: OwnFileOptions = {}): boolean {
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    // A link fails if the file exists, and a renamed file replaces it. Both happen at once.
    if (isNew) linkSync(draft, path);
    else renameSync(draft, path);
    syncFolder(dirname(path));
    return true;
  } catch (error) {
    if (isNew && codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Without this, a power cut can undo the new name. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * Reads a file and parses its text. Null if there is none. Throws UnusableFile if it cannot be read, or if `parse`
 * throws. `advice`: what to do then.
 */
export function readOwnFile<T>(path: string, parse: (text: string) => T, advice: string): T | null {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return null;
    const what =
      code === 'EISDIR' ? 'is a folder' : code === undefined ? 'is damaged' : `cannot be read (${code})`;
    throw new UnusableFile(`${path} ${what}: ${advice}`, { cause: error });
  }
}
