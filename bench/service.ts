import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Admin, adminOf } from '../test/support/admin.ts';
import { endTogether } from '../test/support/end-together.ts';
import { program } from '../test/support/program.ts';

type Settings = Readonly<Record<string, string>>;

/** The compiled service, as `npm start` runs it, in its own process. */
export interface BenchService {
  readonly url: string;
  readonly pid: number;
  /** The environment for a command that calls the service. */
  readonly env: Settings;
  readonly admin: Admin;
  stop(): Promise<void>;
}

const LISTENING = /^\{.*"msg":"listening".*$/m;
const Listening = z.object({ url: z.string(), managementUrl: z.string() });
const POLL_MS = 50;

/**
 * Starts the service on free ports, with an embedded store in `dataDir`, an existing folder. Its log goes to
 * a file beside the store, so that no process spends time on reading it.
 */
export async function startService(dataDir: string, more: Settings = {}): Promise<BenchService> {
  const settings = { DATA_DIR: dataDir, PORT: '0', MANAGEMENT_PORT: '0', ...more };
  const log = join(dataDir, 'log');
  const output = openSync(log, 'a');
  const child = spawn(await program(), ['serve'], {
    stdio: ['ignore', output, output],
    env: { PATH: process.env['PATH'], ...settings },
    // The terminal's Ctrl+C is for the bench alone, which stops the service.
    detached: true,
  });
  const leave = endTogether(child);
  const exited = once(child, 'exit');
  let line: string | undefined;
  while (line === undefined) {
    await sleep(POLL_MS);
    const text = readFileSync(log, 'utf8');
    if (child.exitCode !== null) throw new Error(`the service ended:\n${text}`);
    line = LISTENING.exec(text)?.[0];
  }
  const { url, managementUrl } = Listening.parse(JSON.parse(line));
  const env = { ...settings, MANAGEMENT_PORT: new URL(managementUrl).port };
  return {
    url,
    env,
    pid: child.pid ?? 0,
    admin: adminOf(env),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      leave();
    },
  };
}
