import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../domain/thrown.ts';
import { removeFolder } from '../remove-folder.ts';

const PREFIX = 'session-analytics-test-';
/** A folder's name says where its process runs, its number, and when it began: PREFIX, machine, boot, pid, start, chance. */
const NAME = /^session-analytics-test-([0-9a-f]{8})-([0-9a-f]{8})-(\d+)-(\d+)-/;

/** Tells machines and containers apart: a process of another one cannot be looked up. */
const MACHINE = shortHash(hostname(), linkOf('/proc/self/ns/pid'));
/** No process outlives the machine's start. */
const BOOT = shortHash(textOf('/proc/sys/kernel/random/boot_id'));

let isCleared = false;

/** Creates a folder named after this process. The first call removes the folders of processes that were killed. */
export function folderOfProcess(): string {
  if (!isCleared) removeLeftFolders();
  isCleared = true;
  return mkdtempSync(join(tmpdir(), `${PREFIX}${MACHINE}-${BOOT}-${process.pid}-${startOf(process.pid)}-`));
}

/** Removes the folders of this user's processes that have ended. One whose process may still run stays. */
function removeLeftFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, machine, boot, pid, start] = NAME.exec(name) ?? [];
    if (machine !== MACHINE || (boot === BOOT && isRunning(Number(pid), Number(start)))) continue;
    const path = join(tmpdir(), name);
    try {
      const { uid } = lstatSync(path);
      if (uid === process.getuid?.()) removeFolder(path);
    } catch {
      // Another process removes it at the same time.
    }
  }
}

/** False only if no process has this number, or one that began at another time. */
function isRunning(pid: number, start: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
  return startOf(pid) === 0 || startOf(pid) === start;
}

/** When a process began, in the system's ticks since its start; 0 where the system does not say. */
function startOf(pid: number): number {
  // The name of the program, in brackets, may hold anything (proc(5)).
  const fields = textOf(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return Number(fields[19] ?? 0);
}

function shortHash(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 8);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
