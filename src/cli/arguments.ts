import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CliError, HelpAsked } from './cli-error.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/**
 * Parses `args`, with at most `places` positional arguments. Throws HelpAsked for `--help`, and a CliError
 * with the usage for invalid arguments.
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
    // Node's first sentence describes the problem; the next ones advise on positional arguments.
    const [said = ''] = (error instanceof Error ? error.message : String(error)).split(
      /\.?(?:\s|$)(?=[A-Z]|$)/,
    );
    throw misused(`${said}.`, usage);
  }
}

/** An error with the problem and the usage, on one line if the usage is one line long. */
export const misused = (said: string, usage: string): CliError =>
  new CliError(`${said}${usage.includes('\n') ? '\n\n' : ' '}${usage}`);

/** Rejects arguments, for a script without any. */
export function expectNoArguments(usage: string): void {
  parsedArguments(process.argv.slice(2), {}, usage);
}
