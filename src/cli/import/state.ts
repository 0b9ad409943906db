import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { writeOwnFile } from '../../own-file.ts';
import { CliError } from '../cli-error.ts';
import { notWritable } from './spool.ts';

const VERSION = 2;
const HEAD_BYTES = 64 * 1024;
/** For how long a folder is kept that nobody uses: with a state, and without one. */
const KEPT_MS = { whole: 7 * 86_400_000, begun: 60_000 } as const;
const [STATE, LOCK] = ['state.json', 'lock'];

const count = z.int().nonnegative();
const Skipped = z.object({ assets: count, errors: count, methods: count, bots: count, malformed: count });

/** A file as it was when the import read it. */
const SourceSchema = z.object({
  path: z.string(),
  /** The same after the file is renamed. */
  inode: z.string(),
  size: count,
  modified: z.number(),
  head: z.string(),
});
export type Source = z.infer<typeof SourceSchema>;

/** The records that were read: the runs hold them, sorted. */
const ReadPart = z.object({
  kind: z.enum(['sessions', 'requests']),
  runs: z.array(z.string()),
  records: count,
  lines: count,
  skipped: Skipped,
  /** Of each input. */
  spans: z.array(z.tuple([z.number(), z.number()]).nullable()),
});
export type ReadPart = z.infer<typeof ReadPart>;

/** The part that the service has acknowledged: the first `chunks` chunks. */
const SentPart = z.object({
  chunks: count,
  records: count,
  sessions: count,
  events: count,
  duplicates: count,
  rejected: count,
  bots: count,
  malformed: count,
  /** Sessions that were counted and of which more parts follow. */
  begun: z.array(z.string()),
});
export type SentPart = z.infer<typeof SentPart>;

const StateSchema = z.object({
  version: z.literal(VERSION),
  sources: z.array(SourceSchema).readonly(),
  read: ReadPart,
  sent: SentPart,
});
export type State = z.infer<typeof StateSchema>;

export const NOTHING_SENT: SentPart = {
  chunks: 0,
  records: 0,
  sessions: 0,
  events: 0,
  duplicates: 0,
  rejected: 0,
  bots: 0,
  malformed: 0,
  begun: [],
};

/** Rejects with CliError if there is no such file. */
export async function sourceOf(path: string): Promise<Source> {
  const info = await stat(path).catch(() => null);
  if (info === null || !info.isFile()) throw new CliError(`There is no file ${path}.`);
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex');
    return { path: resolve(path), inode: inodeOf(info), size: info.size, modified: info.mtimeMs, head };
  } finally {
    await file.close();
  }
}

export const inodeOf = ({ dev, ino }: { readonly dev: number; readonly ino: number }): string =>
  `${dev}:${ino}`;

/** The folders that this process holds. */
const held = new Set<string>();

/**
 * The folder of one import: its sorted records, and a file that names the acknowledged ones. The same command
 * finds it again. Only one process holds it at a time.
 */
export class StateFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** `name` is the import's identity. Also removes the folders of imports that nobody will continue. */
  static async hold(root: string, name: string): Promise<StateFolder> {
    const path = join(root, createHash('sha256').update(name).digest('hex').slice(0, 16));
    do {
      try {
        await mkdir(root, { recursive: true, mode: 0o700 });
        // Not recursive: that fails if the folder is removed meanwhile.
        await mkdir(path, { mode: 0o700 }).catch(unlessThere);
        await removeOld(root, path);
      } catch (error) {
        throw notWritable(root, error);
      }
    } while (!(await takesLock(path)));
    return new StateFolder(path);
  }

  /** Null if there is no state that this version can continue. */
  read(): State | null {
    try {
      return StateSchema.parse(JSON.parse(readFileSync(join(this.path, STATE), 'utf8')));
    } catch {
      return null;
    }
  }

  /** A crash leaves the old state or the new one. */
  write(state: Omit<State, 'version'>): void {
    try {
      writeOwnFile(join(this.path, STATE), JSON.stringify({ version: VERSION, ...state }));
    } catch (error) {
      throw notWritable(this.path, error);
    }
  }

  /** Removes all that an earlier run left. */
  async empty(): Promise<void> {
    const names = (await readdir(this.path)).filter((name) => name !== LOCK);
    // The state goes first: it must not outlive its runs.
    await rm(join(this.path, STATE), { force: true });
    await Promise.all(names.map((name) => rm(join(this.path, name), { force: true })));
  }

  /** Lets another process continue. */
  async release(): Promise<void> {
    held.delete(this.path);
    await rm(join(this.path, LOCK), { force: true });
  }

  /** Renames it first, so that nobody takes the lock in a folder that is being removed. */
  async remove(): Promise<void> {
    const gone = `${this.path}-${randomUUID()}`;
    await rename(this.path, gone);
    held.delete(this.path);
    await rm(gone, { recursive: true, force: true });
  }

  /** Releases or removes at once, for a process that ends. */
  leave(isKept: boolean): void {
    rmSync(isKept ? join(this.path, LOCK) : this.path, { recursive: true, force: true });
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Takes the lock of a folder. Resolves to false if the import that held it has just removed the folder. */
async function takesLock(path: string): Promise<boolean> {
  for (let attempt = 0; ; attempt++) {
    const file = await open(join(path, LOCK), 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      if (error.code !== 'EEXIST') throw notWritable(path, error);
      return null;
    });
    if (file === undefined) return false;
    if (file !== null) {
      await file.write(String(process.pid)).finally(() => file.close());
      held.add(path);
      return true;
    }
    const owner = await ownerOf(path);
    if (owner !== null || attempt > 0) {
      throw new CliError(
        `Process ${owner ?? 'another'} imports the same now: wait for it, or delete ${join(path, LOCK)} if there is no such process.`,
      );
    }
    await rm(join(path, LOCK), { force: true });
  }
}

/** The process that holds a folder; null if there is none, or if it is gone. */
async function ownerOf(path: string): Promise<number | null> {
  if (held.has(path)) return process.pid;
  let pid: number;
  try {
    pid = Number(readFileSync(join(path, LOCK), 'utf8'));
  } catch {
    return null;
  }
  // A container's processes get the same numbers again: an earlier process had this one's.
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return null;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : null;
  }
}

/** Removes folders without a state, which cannot be continued, and those that were not used for a week. */
async function removeOld(root: string, own: string): Promise<void> {
  for (const name of await readdir(root)) {
    const path = join(root, name);
    if (path === own || !/^[0-9a-f]{16}(-[0-9a-f-]+)?$/.test(name) || (await ownerOf(path)) !== null)
      continue;
    const state = await stat(join(path, STATE)).catch(() => null);
    const used = state ?? (await stat(path).catch(() => null));
    const kept = state === null ? KEPT_MS.begun : KEPT_MS.whole;
    if (used !== null && Date.now() - used.mtimeMs > kept) await rm(path, { recursive: true, force: true });
  }
}
