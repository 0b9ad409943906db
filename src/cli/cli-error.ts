import { isNoRoom } from '../domain/no-room.ts';
import { messageOf } from '../domain/thrown.ts';

/** An error for the user of a command line: its message says in one line, without a stack, what to do. */
export class CliError extends Error {
  override readonly name = 'CliError';
}

/** Prints a command's result as one JSON document on standard output. */
export function printResult(result: unknown): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

/** The message of an error, which says so if a full disk is its reason. */
function explained(error: unknown): string {
  const message = messageOf(error);
  return isNoRoom(error) && !/disk .*is full/.test(message) ? `The disk is full: ${message}` : message;
}

/** Prints the error that ended a command on standard error. The exit code becomes 1. */
export function sayEnd(error: unknown): void {
  process.stderr.write(`${explained(error)}\n`);
  process.exitCode = 1;
}

/** Returns an error with the message of `error` on one line. */
export function onOneLine(error: unknown): Error {
  return new CliError(
    explained(error)
      .trim()
      .replace(/\s*\n\s*/g, ' '),
    { cause: error },
  );
}
