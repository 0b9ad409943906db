import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { readConfig } from '../config.ts';
import type { AdminCall } from './admin-commands.ts';
import { refusalByOption } from './admin-options.ts';
import { CliError } from './cli-error.ts';
import { confirmDeletion } from './deletion.ts';
import { filesOf } from './import/files.ts';
import type { Format } from './import/formats.ts';
import { type ImportSummary, importFiles } from './import/import.ts';
import { patientSend } from './import/patience.ts';
import { type ClientConfig, managementClient, RefusedCall } from './management-client.ts';
import { appIdOf, withIds } from './names.ts';
import { wallClock } from './wall-clock.ts';

/** Runs a command on the running service. Asks first if it deletes data, unless the options say yes. */
export async function callService(typed: AdminCall, config: ClientConfig = readConfig()): Promise<unknown> {
  const client = managementClient(config, wallClock);
  const { method, path, body, values, deletes, pipe } = typed.with(
    await withIds(typed.values, (list) => client.call('GET', list)),
  );
  if (deletes !== undefined && values.yes !== true) {
    await confirmDeletion(deletes, (list) => client.call('GET', list));
  }
  const called = (): Promise<unknown> => {
    if (pipe === 'in') return client.upload(path, archiveIn());
    return pipe === 'out' ? client.download(path, archiveOut()) : client.call(method, path, body);
  };
  return called().catch((error: unknown) => {
    throw error instanceof RefusedCall ? new CliError(refusalByOption(error, values)) : error;
  });
}

function archiveIn(): Readable {
  if (!process.stdin.isTTY) return process.stdin;
  throw new CliError('There is no archive on standard input: add < app.tar to the command.');
}

function archiveOut(): Writable {
  if (!process.stdout.isTTY) return process.stdout;
  throw new CliError('An archive is not for a terminal: add > app.tar to the command.');
}

/** A service that is silent for longer is taken for dead. It answers 503 after 15 s. */
const LONGEST_SILENCE_MS = 120_000;

export interface ImportCommand {
  readonly app: string;
  readonly format: Format | null;
  readonly patience: number;
  readonly state: string | null;
}

/** Loads files through the running service. Shows the progress on standard error. */
export async function importInto(
  names: readonly string[],
  { app, format, patience, state }: ImportCommand,
): Promise<ImportSummary> {
  const config = readConfig();
  const client = managementClient(config, wallClock);
  const files = await filesOf(names);
  const write = (text: string): void => void process.stderr.write(text);
  const list = (path: string) =>
    patientSend(
      () => client.call('GET', path),
      patience * 1000,
      (text) => write(`${text}\n`),
    )('');
  const id = await appIdOf(app, list);
  return importFiles({
    files,
    app: id,
    format,
    now: wallClock(),
    stateRoot: state ?? join(config.dataDir, 'import'),
    send: (body) => client.callWith('POST', `/apps/${id}/import`, body, LONGEST_SILENCE_MS),
    patienceMs: patience * 1000,
    screen: { isTerminal: process.stderr.isTTY, write },
  });
}
