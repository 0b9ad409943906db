/*
 * What was thrown, by its form and not by its class: under Jest, errors of Node itself have a class `Error` of another
 * realm, and `error instanceof Error` is false for them.
 */

/** A DOMException is the reason of an aborted request. */
const ERRORS = ['[object Error]', '[object DOMException]'];

/** True for an error of any realm. */
export const isError = (thrown: unknown): thrown is Error =>
  ERRORS.includes(Object.prototype.toString.call(thrown));

/** The code of a system's or a library's error, such as `ENOENT`. */
export const codeOf = (thrown: unknown): string | undefined =>
  isError(thrown) && 'code' in thrown && thrown.code !== undefined ? String(thrown.code) : undefined;

/** True for the failure of a system call, such as the opening of a file. */
export const isOfSystem = (thrown: unknown): boolean => isError(thrown) && 'syscall' in thrown;

/** The words of an error, or of anything else that was thrown. */
export const messageOf = (thrown: unknown): string => (isError(thrown) ? thrown.message : String(thrown));
