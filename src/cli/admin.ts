import { readConfig } from '../config.ts';
import { epochMs } from '../domain/time.ts';
import { adminCall } from './admin-commands.ts';
import { runCommand } from './cli-error.ts';
import { managementClient } from './management-client.ts';

/** The operator's command line: one call of the running service's management API. */
await runCommand(async () => {
  const { method, path, body } = adminCall(process.argv.slice(2));
  const client = managementClient(readConfig(process.env), () => epochMs(Date.now()));
  return client.call(method, path, body);
});
