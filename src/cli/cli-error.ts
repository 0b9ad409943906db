/** What a command line's user has to know and do: one line, without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError';
}

/** Runs a command: its result as one JSON document on standard output, exit 0; or one line on standard error, exit 1. */
export async function runCommand(work: () => Promise<unknown>): Promise<void> {
  try {
    const result = await work();
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } catch (error) {
    process.stderr.write(`${oneLine(error)}\n`);
    process.exitCode = 1;
  }
}

const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().replace(/\s*\n\s*/g, ' ');
