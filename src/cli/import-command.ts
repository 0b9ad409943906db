import { InvalidArgumentError } from 'commander';
import { isUuid } from '../domain/ids.ts';
import { type CommandLine, valueOption } from './command-line.ts';
import type { LogFormat } from './import-file.ts';

const FORMATS = ['ndjson', 'combined'] as const satisfies readonly LogFormat[];

interface Values {
  readonly app: string;
  /** Null: by the first line. */
  readonly format: LogFormat | null;
}

/** `printed` prints the summary, or the error on one line. */
export function addImportCommand(
  parent: CommandLine,
  printed: (work: Promise<unknown>) => Promise<void>,
): void {
  parent
    .command('import')
    .description(
      'Loads a file through the running service, and prints a summary. Safe to interrupt and to repeat.',
    )
    .argument('<file>', 'NDJSON with one session a line, or an access log in the combined format.')
    .addOption(valueOption('--app <id>', 'The app that the events belong to.', appId).makeOptionMandatory())
    .addOption(
      valueOption('--format <format>', 'ndjson or combined.', format).default(null, 'by the first line'),
    )
    .action(async (file: string, { app, format }: Values) =>
      printed((await import('./running-service.ts')).importInto(app, file, format)),
    );
}

function appId(value: string): string {
  if (!isUuid(value)) throw new InvalidArgumentError("It must be an app's id.");
  return value.toLowerCase();
}

function format(value: string): LogFormat {
  const found = FORMATS.find((name) => name === value);
  if (found === undefined) throw new InvalidArgumentError(`It must be ${FORMATS.join(' or ')}.`);
  return found;
}
