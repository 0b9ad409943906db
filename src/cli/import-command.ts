import { InvalidArgumentError } from 'commander';
import { CliError } from './cli-error.ts';
import { type CommandLine, seconds, valueOption } from './command-line.ts';
import { FORMATS, type Format } from './import/formats.ts';
import type { ImportCommand } from './running-service.ts';

const HELP = `
Files are NDJSON with one session a line, or access logs: common, combined, vhost_combined (Apache), main (nginx),
Caddy's JSON, CloudFront's standard logs. All files of one command are one log, in any order. gzip is unpacked by itself, zstd and bzip2
by the programs of that name. An import that was interrupted goes on where it stopped if it is started again
in the same way. Standard input cannot go on: events that are stored already are skipped.

Examples:
  session-analytics import /var/log/nginx/access.log* --app shop.example
  zcat sessions.ndjson.gz | session-analytics import - --app "Shop"`;

/** `printed` prints the summary, or the error on one line. */
export function addImportCommand(
  parent: CommandLine,
  printed: (work: Promise<unknown>) => Promise<void>,
): void {
  parent
    .command('import')
    .description(
      'Loads files through the running service, and prints a summary. Safe to interrupt and to repeat.',
    )
    .argument('<files...>', 'Files or patterns such as "logs/*.gz"; - is standard input.')
    .addOption(
      valueOption(
        '--app <app>',
        'The app that the events belong to: its name, domain or id.',
      ).makeOptionMandatory(),
    )
    .addOption(
      valueOption('--format <format>', `The format of all files: ${FORMATS.join(', ')}.`, format).default(
        null,
        'by the content of each file',
      ),
    )
    .addOption(
      valueOption(
        '--patience <time>',
        'For how long a service that does not answer is asked again.',
        seconds,
      ).default(600, '10m'),
    )
    .addOption(
      valueOption(
        '--state <folder>',
        'Where the import keeps sorted records and its progress, until it is done.',
      ).default(null, 'import in DATA_DIR'),
    )
    .addHelpText('after', HELP)
    .action(async (files: string[], command: ImportCommand) => {
      const [{ importInto }, { Unreadable }] = await Promise.all([
        import('./running-service.ts'),
        import('./import/read.ts'),
      ]);
      let unreadable: CliError | null = null;
      const work = importInto(files, command).catch((error: unknown) => {
        if (!(error instanceof Unreadable)) throw error;
        unreadable = error;
        const { lines, skipped } = error;
        return { lines, sessions: 0, events: 0, skipped, duplicates: 0 };
      });
      await printed(work);
      if (unreadable !== null) throw unreadable;
      const { lines, skipped } = await work;
      if (lines > 0 && skipped.malformed === lines) {
        throw new CliError(
          'Nothing was imported: every line is malformed or was rejected. The reasons of the first ones are above, and the formats in import --help.',
        );
      }
    });
}

function format(value: string): Format {
  const found = FORMATS.find((name) => name === value);
  if (found === undefined) throw new InvalidArgumentError(`It must be one of ${FORMATS.join(', ')}.`);
  return found;
}
