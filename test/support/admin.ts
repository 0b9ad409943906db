import { adminCall } from '../../src/cli/admin-line.ts';
import { callService } from '../../src/cli/running-service.ts';
import { readConfig } from '../../src/config.ts';

/** Runs a command of `npm run admin` in this process, with a service's settings. */
export type Admin = (...args: string[]) => Promise<unknown>;

export function adminOf(env: Readonly<Record<string, string>>): Admin {
  const config = readConfig(env);
  return (...args) => callService(adminCall(args), config);
}
