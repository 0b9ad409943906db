import { randomUUID } from 'node:crypto';
import type { StoreLocation } from '../clickhouse/connect.ts';
import { ownProcess } from '../own-process.ts';
import { removeFolder } from '../remove-folder.ts';
import { folderOfProcess } from './folders.ts';

/** A place for a new database; nothing is opened. */
export interface Place {
  readonly location: StoreLocation;
  /** Call it after the database was closed. */
  remove(): void;
}

/** The engine holds one folder per process. Stores of one process are databases in the same folder. */
let shared: string | null = null;
let stores = 0;

/** Returns a place on the embedded engine for a database that no other store of this process uses. */
export function embeddedPlace(): Place {
  shared ??= newFolder();
  stores += 1;
  let removed = false;
  return {
    location: { kind: 'embedded', dataDir: shared, database: newDatabase() },
    remove: () => {
      if (removed) return;
      removed = true;
      stores -= 1;
      if (stores > 0 || shared === null) return;
      dropFolder(shared);
      shared = null;
    },
  };
}

/** Returns a name for a database. */
export const newDatabase = (): string => `test_${randomUUID().replaceAll('-', '').slice(0, 16)}`;

/** The folders that are still there: those of a test that fails before it closes its service. */
const folders = new Set<string>();

/** Creates a folder named after this process, which it does not outlive. */
export function newFolder(): string {
  if (folders.size === 0) ownProcess.once('exit', removeAll);
  const made = folderOfProcess();
  folders.add(made);
  return made;
}

export function dropFolder(folder: string): void {
  removeFolder(folder);
  folders.delete(folder);
  if (folders.size === 0) ownProcess.off('exit', removeAll);
}

function removeAll(): void {
  for (const folder of folders) dropFolder(folder);
}
