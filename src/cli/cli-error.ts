/** An error for the user of a command line: its message says in one line, without a stack, what to do. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
}

/** Its message is the usage, for `--help`. */
export class HelpAsked extends CliError {
  override readonly name = 'HelpAsked';
}

/**
 * Runs a command. Prints its result as one JSON document on standard output, exit 0; or one line on standard
 * error, exit 1.
 */
export async function runCommand(work: () => Promise<unknown>): Promise<void> {
  try {
    const result = await work();
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } catch (error) {
    sayEnd(error instanceof HelpAsked ? error : oneLine(error));
  }
}

/**
 * Prints the error that ended a script: the usage on standard output, exit 0; or a message on standard error,
 * exit 1.
 */
export function sayEnd(error: unknown): void {
  const isHelp = error instanceof HelpAsked;
  (isHelp ? process.stdout : process.stderr).write(`${messageOf(error)}\n`);
  process.exitCode = isHelp ? 0 : 1;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const oneLine = (error: unknown): string =>
  messageOf(error)
    .trim()
    .replace(/\s*\n\s*/g, ' ');
