import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { managementSecretFile } from '../../src/management/secret.ts';
import type { Service } from '../../src/service.ts';
import { openService } from '../../src/testing/in-process.ts';

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
  const lines: string[] = [];
  const kit = await openService({
    settings: { LOG_LEVEL: 'debug' },
    onLog: (line) => void lines.push(line),
  });
  const { dataDir, managementUrl } = kit;
  const { port } = new URL(managementUrl);
  return {
    ...kit.service,
    dataDir,
    jwtSecret: readFileSync(managementSecretFile(dataDir), 'utf8').trim(),
    printed: () => lines.join(''),
    admin: (args, env = {}) => runAdmin(args, { MANAGEMENT_PORT: port, DATA_DIR: dataDir, ...env }),
    close: kit.close,
  };
}

/** `admin …args` with the service's settings, as a line of a shell. */
export function terminalCommand(
  { managementUrl, dataDir }: ManagedService,
  args: readonly string[],
): { readonly command: string; readonly env: Record<string, string> } {
  const words = [process.execPath, '--import', 'tsx', MAIN, 'admin', ...args];
  return {
    command: words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' '),
    env: { PATH: process.env['PATH'] ?? '', MANAGEMENT_PORT: new URL(managementUrl).port, DATA_DIR: dataDir },
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
