import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../src/remove-folder.ts';
import { PROGRAM } from '../support/program.ts';

/** An ended command of the command line. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs a bench of this checkout to its end. `until`: SIGINT is sent once it has said this on standard error. */
export async function runBench(
  args: readonly string[],
  { env = {}, until }: { readonly env?: Readonly<Record<string, string>>; readonly until?: RegExp } = {},
): Promise<Ended> {
  const child = spawn(PROGRAM, ['bench', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...env },
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString();
  });
  let interrupted = false;
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
    if (!interrupted && until?.test(errors)) interrupted = child.kill('SIGINT');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output, errors };
}

/** A folder for the files of a test. */
export function newFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'bench-test-'));
  return { path, remove: () => removeFolder(path) };
}
