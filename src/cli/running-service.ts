import { readConfig } from '../config.ts';
import type { AdminCall } from './admin-commands.ts';
import { type ImportSummary, importFile, type LogFormat } from './import-file.ts';
import { managementClient } from './management-client.ts';
import { wallClock } from './wall-clock.ts';

/** Makes one call of the running service's management API. */
export async function callService({ method, path, body }: AdminCall): Promise<unknown> {
  return managementClient(readConfig(), wallClock).call(method, path, body);
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
