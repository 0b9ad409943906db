import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ClusterUnfit } from '../clickhouse/cluster.ts';
import { EngineUnusable, type StoreLocation } from '../clickhouse/connect.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../clickhouse/database.ts';
import type { Listener } from '../config.ts';
import { detachDamaged } from '../damage/part-files.ts';
import { AppError } from '../domain/errors.ts';
import { isNoRoom } from '../domain/no-room.ts';
import { codeOf, messageOf } from '../domain/thrown.ts';
import { makeFolder } from '../make-folder.ts';

/** The size that the engine needs for its first files. */
const PROBE_BYTES = 64 * 1024;

type Embedded = StoreLocation & { readonly kind: 'embedded' };

/** Opens the store. Rejects with one Error that names the failure and its remedy. */
export async function openStore(store: StoreLocation, options: DatabaseOptions = {}): Promise<Database> {
  if (store.kind === 'embedded') assertUsable(store);
  try {
    // The engine of another process may be using the folder: then this one does not open it, either.
    if (store.kind === 'embedded' && ownerOf(store) === null)
      detachDamaged(join(store.dataDir, 'clickhouse'));
    return await openDatabase(store, options);
  } catch (error) {
    const isSaid = error instanceof EngineUnusable || error instanceof ClusterUnfit;
    throw isSaid ? error : openFailure(store, error);
  }
}

/** Throws an Error with the remedy if the folder cannot be used. Leaves nothing behind but the folder. */
function assertUsable({ dataDir }: Embedded): void {
  const probe = join(dataDir, `.probe-${process.pid}`);
  try {
    makeFolder(dataDir);
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES));
  } catch (error) {
    throw new Error(`Cannot open the store in ${dataDir}: ${folderAdvice(error)}`, { cause: error });
  } finally {
    try {
      rmSync(probe, { force: true });
    } catch {
      // The probe does not exist if the folder does not.
    }
  }
}

function folderAdvice(error: unknown): string {
  const code = codeOf(error);
  if (isNoRoom(error)) return `its disk is full (${code}). Free some space and start again.`;
  if (code === 'EEXIST') return `it is not a folder (${code}). Set DATA_DIR to another path.`;
  if (code === 'ENOTDIR')
    return `something on the way there is not a folder (${code}). Set DATA_DIR to another path.`;
  if (code === 'ENOENT') return `nothing can be made there (${code}). Set DATA_DIR to another path.`;
  return `the folder cannot be written (${code || messageOf(error)}). Make it writable, or set DATA_DIR to another one.`;
}

/** Returns the error for a store that cannot be opened. The embedded engine prints its own reason first. */
function openFailure(store: StoreLocation, error: unknown): Error {
  if (store.kind === 'server') {
    const advice = 'Check that it runs, CLICKHOUSE_URL, CLICKHOUSE_USER and CLICKHOUSE_PASSWORD.';
    return new Error(
      `Cannot open the store at ${store.url}: ${messageOf(error).replace(/\.?$/, '.')} ${advice}`,
      { cause: error },
    );
  }
  const owner = ownerOf(store);
  const advice =
    owner === null
      ? `${messageOf(error instanceof AppError ? error.cause : error)}. The engine's reason stands above. Nothing was changed: repair it, or replace the folder with a backup.`
      : `process ${owner} uses it. Stop that one, or set DATA_DIR to another folder.`;
  return new Error(`Cannot open the store in ${store.dataDir}: ${advice}`, { cause: error });
}

/** Returns the running process that the engine's lock file names. */
function ownerOf({ dataDir }: Embedded): number | null {
  try {
    const status = readFileSync(resolve(dataDir, 'clickhouse', 'status'), 'utf8');
    const pid = Number(/^PID: (\d+)/m.exec(status)?.[1]);
    if (!Number.isInteger(pid) || pid === process.pid) return null;
    return existsSync(`/proc/${pid}`) || isRunning(pid) ? pid : null;
  } catch {
    return null;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

export function listenFailure({ host, port }: Listener, setting: string, error: unknown): Error {
  const advice =
    codeOf(error) === 'EADDRINUSE'
      ? ` Something else listens there: stop it, or set ${setting} to another port.`
      : ` Check ${setting} and ${setting.replace('PORT', 'HOST')}.`;
  return new Error(`Cannot listen on ${host}:${port}: ${messageOf(error)}.${advice}`, { cause: error });
}
