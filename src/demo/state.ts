import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../make-folder.ts';

/** The demo's state between starts. Its credentials open made-up data only. */
const State = z.object({
  apiKey: z.string(),
  appId: z.string(),
  secretKey: z.string(),
  /** The start of the earliest visits, epoch ms. */
  start: z.number(),
  /** The end of the planned load. An interrupted load first repeats exactly its plan up to here. */
  until: z.number(),
  /** The number of stored visits, counted from the first. */
  loaded: z.number(),
});

export type DemoState = z.infer<typeof State>;

const FILE = 'demo.json';

/** Returns null if there is no demo yet. */
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
