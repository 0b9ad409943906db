import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../make-folder.ts';

/** What the demo knows from one start to the next. Its credentials open made-up data only. */
const State = z.object({
  apiKey: z.string(),
  appId: z.string(),
  secretKey: z.string(),
  /** When the first visit can start, epoch ms. */
  start: z.number(),
  /** Loading goes on to here before anything else: an interrupted load repeats exactly what it had planned. */
  until: z.number(),
  /** Visits that are stored, counted from the first. */
  loaded: z.number(),
});

export type DemoState = z.infer<typeof State>;

const FILE = 'demo.json';

/** Null where there is no demo yet. */
export function readState(folder: string): DemoState | null {
  const path = join(folder, FILE);
  return existsSync(path) ? State.parse(JSON.parse(readFileSync(path, 'utf8'))) : null;
}

export function writeState(folder: string, state: DemoState): void {
  makeFolder(folder);
  const path = join(folder, FILE);
  writeFileSync(`${path}.new`, JSON.stringify(state), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
