import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminCall } from '../src/cli/admin-commands.ts';
import { managementClient } from '../src/cli/management-client.ts';
import { readConfig } from '../src/config.ts';
import { epochMs } from '../src/domain/time.ts';
import { startService } from './start-command.ts';

const LISTENING = /"url":"([^"]+)","managementUrl":"[^"]+:(\d+)".*"listening"/;

/** The service in a process of its own, on an empty store. */
export interface BenchService {
  readonly url: string;
  admin(...args: string[]): Promise<unknown>;
  /** Ends it and removes its store. */
  stop(): Promise<void>;
}

/** As `npm start` runs it; a line per request goes into a file, so that nobody's time is spent on reading it. */
export async function benchService(settings: Readonly<Record<string, string>>): Promise<BenchService> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-http-'));
  const log = join(folder, 'log');
  const env = { PORT: '0', MANAGEMENT_PORT: '0', DATA_DIR: join(folder, 'data'), ...settings };
  const service = startService(env, ['ignore', openSync(log, 'w'), 'inherit']);
  const killAtExit = (): void => void service.kill('SIGKILL');
  process.once('exit', killAtExit);
  const exited = once(service, 'exit');
  let found: RegExpExecArray | null = null;
  while (found === null) {
    if (service.exitCode !== null) throw new Error(`the service ended:\n${readFileSync(log, 'utf8')}`);
    await sleep(50);
    found = LISTENING.exec(readFileSync(log, 'utf8'));
  }
  const [, url = '', managementPort = ''] = found;
  const client = managementClient(readConfig({ ...env, MANAGEMENT_PORT: managementPort }), () =>
    epochMs(Date.now()),
  );
  return {
    url,
    admin: (...args) => {
      const { method, path, body } = adminCall(args);
      return client.call(method, path, body);
    },
    stop: async () => {
      service.kill('SIGTERM');
      await exited;
      process.off('exit', killAtExit);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
