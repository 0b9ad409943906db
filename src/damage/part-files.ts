import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readChecksums } from './checksums.ts';
import { hashOfFile } from './city-hash.ts';

/*
 * The engine compares the checksums of what it reads, and finds files that are missing or have another size. It does not
 * compare those of the small files that tell what a part holds: its number of rows, its range of times, when its rows end.
 * With a changed byte in one of them, the engine leaves rows out, or deletes them, and says nothing. So these files are
 * compared here, before the engine opens the store. A part with such a file goes where the engine moves broken parts.
 *
 * The list of a part's columns has no checksum. It is compared with the table's definition.
 */

/** The name that the engine gives to a part that it cannot open. */
export const BROKEN = 'broken-on-start';
const SUMS = 'checksums.txt';
const DETACHED = 'detached';
/** The partition, the first and last block, the level, and the mutation. Parts that are being written have other names. */
const PART = /^([0-9a-zA-Z]+)_(\d+)_(\d+)_(\d+)(?:_(\d+))?$/;

interface Part {
  readonly name: string;
  readonly partition: string;
  readonly first: number;
  readonly last: number;
  readonly level: number;
  readonly mutation: number;
}

/** Moves the parts with a changed file out of the tables of a store that no engine has opened. */
export function detachDamaged(store: string): void {
  const folders = [...groupFolders(join(store, 'store'))];
  const definitions = definitionsIn(folders);
  for (const folder of folders) {
    const definition = definitions.get(basename(folder));
    const lastChange = lastMutation(folder);
    for (const part of inUse(partsIn(folder))) {
      const path = join(folder, part.name);
      // Until a change of the table has reached the part, its columns are those from before.
      const isCurrent = Math.max(part.mutation, part.first) >= lastChange;
      if (isDamaged(path) || (isCurrent && hasOtherColumns(path, definition))) detach(folder, part.name);
    }
  }
}

/** The folders of tables and of databases: `store/abc/abc01234-…`. */
function* groupFolders(store: string): Generator<string> {
  if (!existsSync(store)) return;
  for (const group of foldersIn(store)) {
    for (const table of foldersIn(join(store, group))) yield join(store, group, table);
  }
}

/** The definitions of tables, by their ids. A database's folder has a file for each of its tables. */
function definitionsIn(folders: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const folder of folders) {
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.sql'))) {
      const text = readFileSync(join(folder, file), 'utf8');
      const [, id] = /^ATTACH TABLE _ UUID '([0-9a-f-]{36})'/.exec(text) ?? [];
      if (id !== undefined) found.set(id, text);
    }
  }
  return found;
}

/** The number of the table's last mutation; 0 without one. Such a change of rows or columns reaches one part after the other. */
const lastMutation = (folder: string): number =>
  Math.max(0, ...readdirSync(folder).map((name) => Number(/^mutation_(\d+)\.txt$/.exec(name)?.[1] ?? 0)));

/** Columns of the engine: which rows a lightweight DELETE has left, and where rows come from. */
const OWN_COLUMN = /^`_(?:row_exists|block_number|block_offset)` /;

/** Whether the part's list names a column that the table does not have, or has with another type. */
function hasOtherColumns(part: string, definition: string | undefined): boolean {
  const list = readIfThere(join(part, 'columns.txt'))?.toString() ?? '';
  if (definition === undefined) return false;
  // The first two lines are the version and the number.
  const columns = list
    .split('\n')
    .slice(2)
    .filter((line) => line !== '' && !OWN_COLUMN.test(line));
  const isThere = (column: string): boolean => {
    const at = definition.indexOf(`\n    ${column}`);
    return at >= 0 && /[\s,]/.test(definition.charAt(at + column.length + 5));
  };
  return new Set(columns).size < columns.length || !columns.every(isThere);
}

const foldersIn = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

function partsIn(folder: string): Part[] {
  return foldersIn(folder).flatMap((name) => {
    const [, partition, first, last, level, mutation] = PART.exec(name) ?? [];
    if (partition === undefined) return [];
    const numbers = { first: Number(first), last: Number(last), level: Number(level) };
    return [{ name, partition, ...numbers, mutation: Number(mutation ?? 0) }];
  });
}

/** Leaves out the parts that another one replaces: the engine deletes them. */
function inUse(parts: readonly Part[]): Part[] {
  const isReplaced = (part: Part): boolean =>
    parts.some(
      (other) =>
        other !== part &&
        other.partition === part.partition &&
        other.first <= part.first &&
        other.last >= part.last &&
        other.level >= part.level &&
        other.mutation >= part.mutation,
    );
  return parts.filter((part) => !isReplaced(part));
}

/** Missing files, those of another size and a damaged list of checksums are left to the engine, which finds them. */
function isDamaged(part: string): boolean {
  const sums = readIfThere(join(part, SUMS));
  const files = sums === null ? [] : (readChecksums(sums) ?? []);
  return files.some(({ name, size, hash, isCompressed }) => {
    if (isCompressed) return false;
    const bytes = readIfThere(join(part, name));
    return bytes !== null && bytes.length === size && !hashOfFile(bytes).equals(hash);
  });
}

function readIfThere(path: string): Buffer | null {
  return existsSync(path) ? readFileSync(path) : null;
}

function detach(folder: string, name: string): void {
  mkdirSync(join(folder, DETACHED), { recursive: true });
  const to = join(folder, DETACHED, `${BROKEN}_${name}`);
  for (let attempt = 0; ; attempt++) {
    const path = attempt === 0 ? to : `${to}_try${attempt}`;
    if (existsSync(path)) continue;
    renameSync(join(folder, name), path);
    return;
  }
}
