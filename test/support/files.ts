import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Looks into a folder whose files come and go, as the engine's do at any time: what goes meanwhile is left out.
 * `readdirSync` with `recursive` throws instead.
 */

/** The paths of all files and folders below a folder, relative to it. */
export function pathsBelow(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => [
    entry.name,
    ...(entry.isDirectory()
      ? pathsBelow(join(folder, entry.name)).map((path) => join(entry.name, path))
      : []),
  ]);
}

/** The paths of all files below a folder, relative to it. */
export function filesBelow(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    if (entry.isFile()) return [entry.name];
    return entry.isDirectory()
      ? filesBelow(join(folder, entry.name)).map((path) => join(entry.name, path))
      : [];
  });
}

/** The bytes of a file; null if it is gone. */
export function bytesOf(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    return ifGone(error, null);
  }
}

/** Whether a file has one of the texts. A file that is gone has none. */
export function hasOneOf(file: string, texts: readonly string[]): boolean {
  const bytes = bytesOf(file);
  return bytes !== null && texts.some((text) => bytes.includes(text));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return ifGone(error, []);
  }
}

function ifGone<Instead>(error: unknown, instead: Instead): Instead {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead;
  throw error;
}
