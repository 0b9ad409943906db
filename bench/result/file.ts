import {
  accessSync,
  constants,
  lstatSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { CliError } from '../../src/cli/cli-error.ts';
import { messageOf } from '../../src/domain/thrown.ts';
import { type Result, ResultSchema, VERSION } from './schema.ts';

/**
 * `file`: nothing yet, or a plain file with one name. It is replaced by a new one. `through`: a file that has other names,
 * or is behind a link. It is written where it lies. `once`: a device or a pipe, which can neither be replaced nor emptied.
 */
type Place = 'file' | 'through' | 'once';

function placeOf(path: string): Place {
  const own = lstatSync(path, { throwIfNoEntry: false });
  if (own === undefined) return 'file';
  const target = statSync(path, { throwIfNoEntry: false });
  if (target !== undefined && !target.isFile()) return 'once';
  return own.isFile() && own.nlink === 1 ? 'file' : 'through';
}

/** Returns the path. Throws now if the file cannot be written, not after an hour. It is not made yet. */
export function writable(option: string, name: string): string {
  const path = resolve(name);
  try {
    demandFolder(dirname(path));
    const target = statSync(path, { throwIfNoEntry: false });
    if (target?.isDirectory()) throw new Error(`${path} is a folder.`);
    if (target?.isSocket()) throw new Error(`${path} is a socket.`);
    if (target !== undefined && placeOf(path) !== 'file') accessSync(path, constants.W_OK);
    // The file is replaced by a new one in its folder.
    else accessSync(folderOf(path), constants.W_OK);
  } catch (error) {
    throw new CliError(`${option}: ${messageOf(error)}`);
  }
  return path;
}

/** The folder in which the file is made: for a link to nothing, that of the file behind it. */
function folderOf(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const folder = dirname(isLink ? resolve(dirname(path), readlinkSync(path)) : path);
  demandFolder(folder);
  return folder;
}

function demandFolder(path: string): void {
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder.`);
}

/**
 * Writes the whole text. A plain file is replaced, so it is empty or half written at no moment. Anything else is written
 * through: a device, a pipe or a link stays what it is. `isLast`: devices and pipes get the last text alone.
 */
export function writeFile(path: string, text: string, isLast = true): void {
  const place = placeOf(path);
  if (place === 'once' && !isLast) return;
  try {
    if (place === 'file') replaceFile(path, text);
    else writeFileSync(path, text);
  } catch (error) {
    throw new CliError(`${path} could not be written: ${messageOf(error)}`);
  }
}

function replaceFile(path: string, text: string): void {
  const made = `${path}.${process.pid}.new`;
  try {
    writeFileSync(made, text);
    renameSync(made, path);
  } catch (error) {
    rmSync(made, { force: true });
    throw error;
  }
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
    throw new CliError(`${path}: ${messageOf(error)}`);
  }
}
