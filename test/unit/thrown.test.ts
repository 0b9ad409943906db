import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { readChecksums } from '../../src/damage/checksums.ts';
import { isNoRoom } from '../../src/domain/no-room.ts';
import { codeOf, isError, messageOf } from '../../src/domain/thrown.ts';

/** As a test runner with a realm for each file has it. */
const foreign = (code: string): unknown =>
  runInNewContext(`Object.assign(new TypeError('no'), { code: '${code}' })`);

test('an error of another realm is one', () => {
  const error = foreign('ENOSPC');
  expect(error instanceof Error).toBe(false);
  expect([isError(error), codeOf(error), messageOf(error), isNoRoom(error)]).toEqual([
    true,
    'ENOSPC',
    'no',
    true,
  ]);
  expect(isError(new DOMException('gone', 'AbortError'))).toBe(true);
});

test('anything else that is thrown has words and no code', () => {
  for (const thrown of ['text', { message: 'x', code: 'ENOENT' }, null, undefined]) {
    expect([isError(thrown), codeOf(thrown), messageOf(thrown)]).toEqual([false, undefined, String(thrown)]);
  }
});

test('the end of a file that a buffer of another realm tells of is one', () => {
  const text = Buffer.from('checksums format version: 4\n');
  const rest = Buffer.alloc(3);
  rest.readUInt32LE = () => {
    throw runInNewContext("new RangeError('out of range')");
  };
  expect(readChecksums(Buffer.concat([text, rest]))).toBeNull();
  const cut = Object.assign(Buffer.from(text), {
    subarray: (from: number) => (from === 0 ? text : rest),
  });
  expect(readChecksums(cut)).toBeNull();
});
