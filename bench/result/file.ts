import {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { CliError } from '../../src/cli/cli-error.ts';
import { type Result, ResultSchema, VERSION } from './schema.ts';

/** Returns the path. Throws now if the file cannot be written, not after an hour. It is not made yet. */
export function writable(option: string, name: string): string {
  const path = resolve(name);
  try {
    if (existsSync(path) && statSync(path).isDirectory()) throw new Error(`${path} is a folder.`);
    if (!statSync(dirname(path)).isDirectory()) throw new Error(`${dirname(path)} is not a folder.`);
    // The file is replaced by a new one in its folder.
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw new CliError(`${option}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return path;
}

/** Replaces the file. At no moment is it empty or half written. */
export function replaceFile(path: string, text: string): void {
  const made = `${path}.${process.pid}.new`;
  writeFileSync(made, text);
  renameSync(made, path);
}

const AnyVersion = z.object({ format: z.literal('session-analytics-bench'), version: z.number() });

/** Reads a result. Throws a CliError that says what is wrong with the file. */
export function readResult(path: string): Result {
  const json = parsed(path);
  const any = AnyVersion.safeParse(json);
  if (!any.success) throw new CliError(`${path} is not a result of session-analytics bench.`);
  if (any.data.version !== VERSION) {
    throw new CliError(
      `${path} has version ${any.data.version} of the format, and this command reads ${VERSION}.`,
    );
  }
  const result = ResultSchema.safeParse(json);
  if (!result.success)
    throw new CliError(`${path} is damaged: ${z.prettifyError(result.error).split('\n')[0]}`);
  return result.data;
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CliError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
