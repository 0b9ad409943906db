import { readConfig } from '../config.ts';
import { isUuid } from '../domain/ids.ts';
import { epochMs } from '../domain/time.ts';
import { misused, parsedArguments } from './arguments.ts';
import { runCommand } from './cli-error.ts';
import { importFile, type LogFormat } from './import-file.ts';
import { managementClient } from './management-client.ts';

const USAGE = 'Usage: npm run import -- FILE --app ID [--format ndjson|combined]';

interface Arguments {
  readonly file: string;
  readonly app: string;
  readonly format: LogFormat | null;
}

function readArguments(args: readonly string[]): Arguments {
  const options = { app: { type: 'string' }, format: { type: 'string' } } as const;
  const { positionals, values } = parsedArguments(args, options, USAGE, 1);
  const [file] = positionals;
  if (file === undefined) throw misused('Name one file.', USAGE);
  if (values.app === undefined || !isUuid(values.app)) throw misused("--app needs an app's id.", USAGE);
  const { format = null } = values;
  if (format !== null && format !== 'ndjson' && format !== 'combined') {
    throw misused('--format is ndjson or combined.', USAGE);
  }
  return { file, app: values.app.toLowerCase(), format };
}

/** Loads a file through the running service, and prints the summary. */
await runCommand(async () => {
  const { file, app, format } = readArguments(process.argv.slice(2));
  const clock = () => epochMs(Date.now());
  const client = managementClient(readConfig(process.env), clock);
  return importFile({
    file,
    app,
    format,
    now: clock(),
    send: (body) => client.callWith('POST', `/apps/${app}/import`, body),
    progress: (text) =>
      process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text.trimEnd()}\n`),
  });
});
