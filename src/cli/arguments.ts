import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CliError, HelpAsked } from './cli-error.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/**
 * Of `args`, with so many `places` for what is no option. Throws HelpAsked for `--help`, and a CliError with the usage for
 * what cannot be meant.
 */
export function parsedArguments<const Known extends Options>(
  args: readonly string[],
  options: Known,
  usage: string,
  places = 0,
) {
  if (args.includes('--help')) throw new HelpAsked(usage);
  try {
    const parsed = parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
    const unexpected = parsed.positionals[places];
    if (unexpected !== undefined) throw new Error(`Unexpected argument '${unexpected}'`);
    return parsed;
  } catch (error) {
    // Node's first sentence says what is wrong; the next ones advise on positional arguments.
    const [said = ''] = (error instanceof Error ? error.message : String(error)).split(
      /\.?(?:\s|$)(?=[A-Z]|$)/,
    );
    throw misused(`${said}.`, usage);
  }
}

/** What is wrong, and the usage: beside it, or below where it is more than a line. */
export const misused = (said: string, usage: string): CliError =>
  new CliError(`${said}${usage.includes('\n') ? '\n\n' : ' '}${usage}`);

/** For a script that takes none. */
export function expectNoArguments(usage: string): void {
  parsedArguments(process.argv.slice(2), {}, usage);
}
