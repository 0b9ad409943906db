import { readConfig } from '../config.ts';
import type { AdminCall } from './admin-commands.ts';
import { refusalByOption } from './admin-options.ts';
import { CliError } from './cli-error.ts';
import { confirmDeletion } from './deletion.ts';
import { type ImportSummary, importFile, type LogFormat } from './import-file.ts';
import { type ClientConfig, managementClient, RefusedCall } from './management-client.ts';
import { wallClock } from './wall-clock.ts';

/** Runs a command on the running service. Asks first if it deletes data, unless the options say yes. */
export async function callService(
  { method, path, body, values, deletes }: AdminCall,
  config: ClientConfig = readConfig(),
): Promise<unknown> {
  const client = managementClient(config, wallClock);
  if (deletes !== undefined && values.yes !== true) {
    await confirmDeletion(deletes, (list) => client.call('GET', list));
  }
  return client.call(method, path, body).catch((error: unknown) => {
    throw error instanceof RefusedCall ? new CliError(refusalByOption(error, values)) : error;
  });
}

/** Loads a file through the running service. Shows the progress on standard error. */
export async function importInto(
  app: string,
  file: string,
  format: LogFormat | null,
): Promise<ImportSummary> {
  const client = managementClient(readConfig(), wallClock);
  return importFile({
    file,
    app,
    format,
    now: wallClock(),
    send: (body) => client.callWith('POST', `/apps/${app}/import`, body),
    progress: (text) =>
      process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text.trimEnd()}\n`),
  });
}
