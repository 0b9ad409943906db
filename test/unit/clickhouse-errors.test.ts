import { expect, test } from 'vitest';
import { isOfContent, storeError } from '../../src/clickhouse/errors.ts';

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

test('a wrong statement is a bug', () => {
  const cause = failure(62);
  expect(storeError(cause, 'server')).toBe(cause);
});

test.each([
  ['a violated constraint', 469, 'Constraint is violated', true],
  ['a time that cannot be read', 41, 'Cannot read DateTime', true],
  ['a file that cannot be opened', 76, 'Cannot open file', false],
  ['no file handle left, under the code of a parser', 27, 'errno: 24, strerror: Too many open files', false],
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
