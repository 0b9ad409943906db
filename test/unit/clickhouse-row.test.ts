import { expect, test } from 'vitest';
import { listOf, number, rowOf, text, tupleOf } from '../../src/clickhouse/row.ts';

const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown): boolean =>
  schema.safeParse(value).success;

test('a row has exactly its columns, each of its type', () => {
  const row = rowOf([text, number]);
  expect(accepts(row, ['/', 1])).toBe(true);
  for (const other of [
    ['/'],
    ['/', '1'],
    [1, '/'],
    ['/', 1, 2],
    ['/', null],
    ['/', Number.POSITIVE_INFINITY],
    [],
    null,
    'text',
    {},
  ]) {
    expect(accepts(row, other)).toBe(false);
  }
});

test('a row with a rest has its columns, and any number of further ones of one type', () => {
  const row = rowOf([text], number);
  for (const one of [['/'], ['/', 1], ['/', 1, 2, 3]]) expect(accepts(row, one)).toBe(true);
  for (const other of [[], [1], ['/', '1'], ['/', 1, '2']]) expect(accepts(row, other)).toBe(false);
});

test('lists and tuples may be columns', () => {
  const row = rowOf([number], tupleOf([listOf(text), listOf(number)]));
  for (const one of [[1], [1, [[], []]], [1, [['a', 'b'], [1]], [[], [2]]]])
    expect(accepts(row, one)).toBe(true);
  for (const other of [
    [1, []],
    [1, [[1], []]],
    [1, [[], ['a']]],
    [1, [[], [], []]],
    [1, null],
  ]) {
    expect(accepts(row, other)).toBe(false);
  }
});

test('a row is returned as it is', () => {
  expect(rowOf([text, number]).parse(['/', 1])).toEqual(['/', 1]);
});
