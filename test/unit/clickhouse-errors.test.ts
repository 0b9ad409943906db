import { expect, test } from 'vitest';
import { storeError } from '../../src/clickhouse/errors.ts';

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
