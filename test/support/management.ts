import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { wallClock } from '../../src/cli/wall-clock.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/http/server/log.ts';
import { managementSecretFile } from '../../src/management/secret.ts';
import { type Service, startService } from '../../src/service.ts';

/** The whole service on its own embedded store, with its command line. */
export interface ManagedService extends Service {
  readonly dataDir: string;
  readonly jwtSecret: string;
  /** All log lines of the service. */
  readonly printed: () => string;
  /** Runs `admin …args` with this service's settings; `env` overrides them. */
  admin(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandResult>;
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function managedService(): Promise<ManagedService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'analytics-management-'));
  const lines: string[] = [];
  const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
  const service = await startService(readConfig({ PORT: '0', MANAGEMENT_PORT: '0', DATA_DIR: dataDir }), {
    log,
    clock: wallClock,
  });
  const { port } = new URL(service.managementUrl);
  return {
    ...service,
    dataDir,
    jwtSecret: readFileSync(managementSecretFile(dataDir), 'utf8').trim(),
    printed: () => lines.join(''),
    admin: (args, env = {}) => runAdmin(args, { MANAGEMENT_PORT: port, DATA_DIR: dataDir, ...env }),
    close: async () => {
      await service.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Runs the script of package.json with these settings and no others. */
export function runAdmin(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const command = ['--import', 'tsx', MAIN, 'admin', ...args];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      command,
      { env: { PATH: process.env['PATH'], ...env } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? -1);
        resolve({ code, stdout, stderr });
      },
    );
  });
}
