import { VERSION } from '../version.ts';
import { addAdminCommands } from './admin-line.ts';
import { jsonOption } from './admin-options.ts';
import { addBackupCommands } from './backup-command.ts';
import { addBenchCommand } from './bench-command.ts';
import { onOneLine, printResult, sayEnd } from './cli-error.ts';
import { CommandLine } from './command-line.ts';
import { addImportCommand } from './import-command.ts';

const SETTINGS = 'Settings are environment variables, see README.md.';

const help = (example: string, more = ''): string =>
  `\n${`${SETTINGS} ${more}`.trim()}\n\nExample:\n  ${example}`;

/** Runs a command of an operator. Prints its result as one JSON document, or one line on standard error. */
async function printed(work: Promise<unknown>): Promise<void> {
  printResult(await ended(work));
}

/** The same, with a table in the place of JSON on a terminal. */
async function shown(work: Promise<unknown>, json: boolean | undefined): Promise<void> {
  const result = await ended(work);
  // The command has written its result itself.
  if (result === undefined) return;
  const { isTTY, columns } = process.stdout;
  if (json === true || !isTTY) printResult(result);
  else process.stdout.write((await import('./table.ts')).asText(result, columns));
}

const ended = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw onOneLine(error);
  });

/** The whole command line. The code of a command is loaded when the command runs, so that help is printed at once. */
function commandLine(): CommandLine {
  const line = new CommandLine('session-analytics')
    .description('App management and session analytics over HTTP, on ClickHouse.')
    .version(VERSION, '-V, --version', 'Prints the version.')
    .addHelpText('after', `\n${SETTINGS}`) as CommandLine;
  line
    .command('serve')
    .description('Runs the service.')
    .addHelpText('after', help('PORT=3000 session-analytics serve'))
    .action(async () => (await import('./serve.ts')).serve());
  line
    .command('demo')
    .description('Runs the service with 90 days of made-up data, and prints lines to paste into a shell.')
    .addHelpText('after', help('session-analytics demo', 'The data are kept in DATA_DIR/demo.'))
    .action(async () => (await import('./demo.ts')).demo());
  line
    .command('migrate')
    .description("Brings the store to this version's schema and prints the names of the migrations.")
    .addHelpText(
      'after',
      help('DATA_DIR=/var/lib/analytics session-analytics migrate', '"serve" migrates too.'),
    )
    .addOption(jsonOption())
    .option('--print', 'Prints the statements of the whole schema as this store runs them, and applies none.')
    .action(async ({ json, print }: { readonly json?: boolean; readonly print?: boolean }) => {
      const { migrateStore, printSchema } = await import('./migrate.ts');
      if (print === true) process.stdout.write(await ended(printSchema()));
      else await shown(migrateStore(), json);
    });
  const call: Parameters<typeof addAdminCommands>[1] = async (adminCall) =>
    shown((await import('./running-service.ts')).callService(adminCall), adminCall.values.json);
  const admin = line.command('admin').description('Administers the running service.');
  addAdminCommands(admin, call);
  addAdminCommands(line, call, ['seal']);
  addImportCommand(line, printed);
  addBackupCommands(line, shown);
  addBenchCommand(line);
  return line;
}

try {
  await commandLine().parseAsync();
} catch (error) {
  sayEnd(error);
}
