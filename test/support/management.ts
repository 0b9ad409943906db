import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { managementSecretFile } from '../../src/management/secret.ts';
import type { Service } from '../../src/start/service.ts';
import { openService } from '../../src/testing/in-process.ts';
import { PROGRAM } from './program.ts';
import { clusterSettings } from './store.ts';

/** The whole service on its own store, with its command line. */
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
  const cluster = clusterSettings();
  const kit = await openService({
    settings: { LOG_LEVEL: 'debug', ...cluster },
    onLog: (line) => void lines.push(line),
  });
  const { dataDir, managementUrl } = kit;
  // The command line finds it in the folder, as the service on an embedded store leaves it there.
  const { MANAGEMENT_JWT_SECRET: secret } = cluster;
  if (secret !== undefined) writeFileSync(managementSecretFile(dataDir), secret, { mode: 0o600 });
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
  const words = [PROGRAM, 'admin', ...args];
  return {
    command: words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' '),
    env: { PATH: process.env['PATH'] ?? '', MANAGEMENT_PORT: new URL(managementUrl).port, DATA_DIR: dataDir },
  };
}

/** Runs the script of package.json with these settings and no others. */
export function runAdmin(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const options = { env: { PATH: process.env['PATH'], ...env } };
  return new Promise((resolve) => {
    execFile(PROGRAM, ['admin', ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      resolve({ code, stdout, stderr });
    });
  });
}
