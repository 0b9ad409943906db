import { readFileSync } from 'node:fs';
import { codeOf } from '../domain/thrown.ts';

/** The settings that may hold a secret. Each can be read from a file instead, which `…_FILE` names. */
export const SECRET_SETTINGS = [
  'CLICKHOUSE_PASSWORD',
  'DASHBOARD_SECRET',
  'MANAGEMENT_JWT_SECRET',
  'OIDC_CLIENT_SECRET',
  'REDIS_PASSWORD',
  'REDIS_URL',
] as const;

interface SecretFiles {
  /** By setting, without the line break at the file's end. */
  readonly secrets: Readonly<Record<string, string>>;
  /** By setting: the problem with its file. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Reads the files of secrets that the settings name. */
export function readSecretFiles(env: NodeJS.ProcessEnv): SecretFiles {
  const secrets: Record<string, string> = {};
  const problems = new Map<string, string>();
  for (const name of SECRET_SETTINGS) {
    const setting = `${name}_FILE`;
    const path = env[setting];
    if (path === undefined) continue;
    if (env[name] !== undefined) {
      problems.set(name, `${setting} is set, and ${name} too: use one of them`);
      continue;
    }
    try {
      const secret = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (secret === '') problems.set(name, `${setting} names an empty file`);
      secrets[name] = secret;
    } catch (error) {
      const code = codeOf(error) === undefined ? '' : ` (${codeOf(error)})`;
      problems.set(name, `${setting} names a file that cannot be read${code}`);
    }
  }
  return { secrets, problems };
}
