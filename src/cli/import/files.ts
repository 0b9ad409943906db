import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { glob, isDynamicPattern } from 'tinyglobby';
import { CliError } from '../cli-error.ts';

const STDIN = '-';

/**
 * Returns the files that the arguments name, each once. A pattern that the shell has left alone is expanded.
 * Null is standard input. Rejects with CliError.
 */
export async function filesOf(names: readonly string[]): Promise<readonly string[] | null> {
  if (names.includes(STDIN)) {
    if (names.length === 1) return null;
    throw new CliError('Standard input (-) and files cannot be imported together.');
  }
  const files = await Promise.all(names.map(expanded));
  return [...new Set(files.flat())];
}

async function expanded(name: string): Promise<readonly string[]> {
  if (existsSync(name) || !isDynamicPattern(name)) return [name];
  const found = await glob(name, { absolute: isAbsolute(name), dot: true, expandDirectories: false });
  if (found.length === 0) throw new CliError(`No file matches ${name}.`);
  return found.sort();
}
