import { adminCall } from '../../src/cli/admin-commands.ts';
import { managementClient } from '../../src/cli/management-client.ts';
import { readConfig } from '../../src/config.ts';
import { epochMs } from '../../src/domain/time.ts';

/** Runs a command of `npm run admin` in this process, with a service's settings. */
export type Admin = (...args: string[]) => Promise<unknown>;

export function adminOf(env: Readonly<Record<string, string>>): Admin {
  const client = managementClient(readConfig(env), () => epochMs(Date.now()));
  return (...args) => {
    const { method, path, body } = adminCall(args);
    return client.call(method, path, body);
  };
}
