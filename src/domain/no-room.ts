import { codeOf, isError } from './thrown.ts';

const SYSTEM_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
/** NOT_ENOUGH_SPACE of the engine. */
const ENGINE_CODE = '243';
/** Codes of the engine for what it writes. Under other codes, the words may be those of rows. */
const WRITING: ReadonlySet<unknown> = new Set(
  '24 75 76 77 88 172 204 270 275 294 424 425 463 521 586 641 642 1000 1001'.split(' '),
);
/** These errors name the system's error (28 ENOSPC, 122 EDQUOT) or use the words of the C++ library. */
const ENGINE_WORDS =
  /\(NOT_ENOUGH_SPACE\)|errno: (28|122), strerror|filesystem error.*(No space left on device|Disk quota exceeded)/i;
const DEEPEST = 8;

/** Whether a failure, or its cause, says that a disk or the user's share of it is full. */
export function isNoRoom(error: unknown): boolean {
  let one = error;
  for (let depth = 0; isError(one) && depth < DEEPEST; depth++) {
    const code = codeOf(one);
    const isWritten = ENGINE_WORDS.test(one.message);
    // The cause of an error with a code of the engine is its text alone.
    if (code !== undefined && /^\d+$/.test(code))
      return code === ENGINE_CODE || (WRITING.has(code) && isWritten);
    if (SYSTEM_CODES.has(code) || (code === undefined && isWritten)) return true;
    one = one.cause;
  }
  return false;
}
