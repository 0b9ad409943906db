import { describe, expect, test } from 'vitest';
import { isOfContent, storeError } from '../../src/clickhouse/errors.ts';
import type { AppError } from '../../src/domain/errors.ts';

const failure = (code: number): Error =>
  Object.assign(new Error('of the engine'), { code: String(code), type: 'TYPE' });

test.each([
  ['too little memory for a query', 241, 'overloaded'],
  ['no memory left in the system', 173, 'overloaded'],
  ['a server that shuts down', 394, 'store_unavailable'],
  ['no ZooKeeper', 225, 'store_unavailable'],
])('%s is a 503 with Retry-After', (_, code, expected) => {
  const cause = failure(code);
  expect(storeError(cause, 'server')).toMatchObject({
    code: expected,
    status: 503,
    retryAfterSeconds: expect.any(Number),
    cause,
  });
});

const failed = (code: string | undefined, message: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });
const WRITING = 'Cannot write to file /d/x: , errno: 28, strerror: No space left on device';
const IN_LIBRARY =
  'std::exception. Code: 1001, filesystem error: in create_directories: No space left on device';

describe('a full disk is told to the operator, and not to the caller', () => {
  test.each([
    ['the engine reserves no space', failed('243', 'Cannot reserve 1.00 MiB, not enough space.')],
    ['the engine writes a file', failed('75', WRITING)],
    ['it opens a file', failed('76', WRITING.replace('write to', 'open'))],
    ['the user has no share left', failed('75', WRITING.replace('28, ', '122, '))],
    ['its library makes a folder', failed('1001', IN_LIBRARY)],
    ['a system call', failed('ENOSPC', 'ENOSPC: no space left on device, write')],
    ['a system call beyond the quota', failed('EDQUOT', 'EDQUOT: disk quota exceeded, write')],
    ['a cause', new Error('outside', { cause: failed('243', 'inside') })],
  ])('%s', (_, cause) => {
    for (const kind of ['embedded', 'server'] as const) {
      const error = storeError(cause, kind);
      expect(error).toMatchObject({ code: 'store_unavailable', status: 503, cause });
      const { detail, message } = error as AppError;
      expect(detail).not.toMatch(/disk|space|full|room/i);
      expect(message).toMatch(/^store_unavailable: The disk of the store is full\./);
    }
  });

  test.each([WRITING, IN_LIBRARY, 'Not enough space (NOT_ENOUGH_SPACE)'])(
    'data that speak of it are no full disk, and no other error of the machine: %s',
    (words) => {
      for (const kind of ['embedded', 'server'] as const) {
        const cause = failed('27', `Cannot parse input: expected , before: ${words}`);
        expect(storeError(cause, kind)).toBe(cause);
        // The embedded engine's errors have their own text for a cause.
        cause.cause = new Error(cause.message);
        expect(storeError(cause, kind)).toBe(cause);
      }
    },
  );
});

test('a wrong statement is a bug', () => {
  const cause = failure(62);
  expect(storeError(cause, 'server')).toBe(cause);
});

test.each([
  ['a violated constraint', 469, 'Constraint is violated', true],
  ['a time that cannot be read', 41, 'Cannot read DateTime', true],
  ['a file that cannot be opened', 76, 'Cannot open file', false],
  ['rows that speak of files', 27, 'before: errno: 24, strerror: Too many open files', true],
  ['rows that speak of memory', 469, "path = '/MEMORY_LIMIT_EXCEEDED'", true],
  ['rows that speak of time', 469, "path = '/timeout, closed'", true],
  [
    'no file handle left, under the code of the standard library',
    1001,
    'std::exception: Too many open files',
    false,
  ],
  ['no room', 243, 'Cannot reserve 1.00 MiB', false],
  ['no memory', 241, 'Memory limit exceeded', false],
  ['a time limit', 159, 'Timeout exceeded', false],
  ['a missing table', 60, 'Unknown table', false],
  ['a damaged file', 40, 'Checksum does not match', false],
  ['a bug of the engine', 49, 'Logical error', false],
])('%s: are the rows suspected?', (_, code, message, expected) => {
  expect(isOfContent(Object.assign(new Error(message), { code: String(code) }))).toBe(expected);
});

test.each([
  [76, 'Cannot open file /x: errno: 24, strerror: Too many open files'],
  [1001, 'filesystem error: Too many open files'],
])('no file handle left (%i) is a 503', (code, message) => {
  const cause = Object.assign(new Error(message), { code: String(code) });
  expect(storeError(cause, 'embedded')).toMatchObject({ code: 'store_unavailable', status: 503 });
});

const GONE = 'filesystem error: in file_size: No such file or directory ["/d/store/2ff/data.cmrk4"]';
test.each([
  ['a file that is gone', '107', 'Cannot open file /d/x: , errno: 2, strerror: No such file or directory'],
  ['a folder that is gone', '1001', `std::__1::filesystem::filesystem_error: ${GONE}`],
  ['a disk that was mounted anew, read-only', '1001', 'filesystem error: in rename: Read-only file system'],
  ['a folder that others own', '76', 'errno: 13, strerror: Permission denied'],
  ['a file that is damaged', '40', 'Checksum does not match'],
  ['a file that ends too early', '33', 'Cannot read all data. Bytes read: 3. Bytes expected: 25.'],
  ['a part that is gone', '232', 'No such data part'],
  ['a network error of the library', '1000', 'Poco::Exception: Net Exception: Socket is not connected'],
])('%s is a 503 on each store', (_, code, message) => {
  for (const kind of ['embedded', 'server'] as const) {
    expect(storeError(failed(code, message), kind)).toMatchObject({
      code: 'store_unavailable',
      status: 503,
      retryAfterSeconds: expect.any(Number),
    });
  }
});

test('so is a system call of this process that fails; an error of its own code is a bug', () => {
  const missing = Object.assign(new Error("ENOENT: no such file or directory, open '/d/x'"), {
    code: 'ENOENT',
    syscall: 'open',
  });
  expect(storeError(missing, 'embedded')).toMatchObject({ code: 'store_unavailable', status: 503 });
  const bug = new TypeError('x is not a function');
  expect(storeError(bug, 'embedded')).toBe(bug);
});
