import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { adminCall } from '../src/cli/admin-commands.ts';
import { managementClient } from '../src/cli/management-client.ts';
import { readConfig } from '../src/config.ts';
import { epochMs } from '../src/domain/time.ts';
import { startService } from './start-command.ts';

/** The service as `npm start` runs it, in a process of its own; its log goes to a file, which costs the reader nothing. */
export interface IngestService {
  readonly url: string;
  readonly pid: number;
  /** What a command that talks to it needs. */
  readonly env: Readonly<Record<string, string>>;
  admin(...args: string[]): Promise<unknown>;
  stop(): Promise<void>;
}

const LISTENING = /^\{.*"msg":"listening".*$/m;
const Listening = z.object({ url: z.string(), managementUrl: z.string() });
const POLL_MS = 50;

export async function startIngestService(dataDir: string): Promise<IngestService> {
  const settings = { DATA_DIR: dataDir, PORT: '0', MANAGEMENT_PORT: '0' };
  const log = join(dataDir, 'log');
  const output = openSync(log, 'a');
  const child = startService(settings, ['ignore', output, output]);
  const exited = once(child, 'exit');
  let line: string | undefined;
  while (line === undefined) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const text = readFileSync(log, 'utf8');
    if (child.exitCode !== null) throw new Error(`the service ended:\n${text}`);
    line = LISTENING.exec(text)?.[0];
  }
  const { url, managementUrl } = Listening.parse(JSON.parse(line));
  const env = { ...settings, MANAGEMENT_PORT: new URL(managementUrl).port };
  const client = managementClient(readConfig(env), () => epochMs(Date.now()));
  return {
    url,
    env,
    pid: child.pid ?? 0,
    admin: (...args) => {
      const { method, path, body } = adminCall(args);
      return client.call(method, path, body);
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
