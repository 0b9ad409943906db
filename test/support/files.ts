import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Looks into a folder whose files come and go, as the engine's do at any time: what goes meanwhile is left out.
 * `readdirSync` with `recursive` throws instead.
 */

/** The paths of all files and folders below a folder, relative to it. */
export const pathsBelow = (folder: string): string[] => entriesBelow(folder).map(({ path }) => path);

/** The paths of all files below a folder, relative to it. */
export const filesBelow = (folder: string): string[] =>
  entriesBelow(folder).flatMap(({ path, isFile }) => (isFile ? [path] : []));

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

interface Entry {
  readonly path: string;
  readonly isFile: boolean;
}

function entriesBelow(folder: string): Entry[] {
  return entriesOf(folder).flatMap((entry) => [
    { path: entry.name, isFile: entry.isFile() },
    ...(entry.isDirectory() ? entriesBelow(join(folder, entry.name)) : []).map(({ path, isFile }) => ({
      path: join(entry.name, path),
      isFile,
    })),
  ]);
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
