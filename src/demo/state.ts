import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../make-folder.ts';
import { readOwnFile, writeOwnFile } from '../own-file.ts';

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
  const advice = `remove ${folder} and start the demo again.`;
  return readOwnFile(join(folder, FILE), (text) => State.parse(JSON.parse(text)), advice);
}

export function writeState(folder: string, state: DemoState): void {
  makeFolder(folder);
  writeOwnFile(join(folder, FILE), JSON.stringify(state));
}
