import { expect, test } from 'vitest';
import { listOf, number, type RowParser, rowOf, text, tupleOf } from '../../src/clickhouse/row.ts';

function accepts(parser: RowParser<unknown>, value: unknown): boolean {
  try {
    return parser.parse(value) === value;
  } catch {
    return false;
  }
}

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

test('an error names the types, not the values', () => {
  const { parse } = rowOf([text, number]);
  expect(() => parse(['/', 'x'])).toThrow(/^not a row of this question: string, string$/);
  expect(() => parse(null)).toThrow(/^not a row of this question: object$/);
});
