import { expect, test } from 'vitest';
import { packed, unpacked } from '../../src/transfer/format.ts';

test('rows are split into pieces that an import reads, and none is lost', () => {
  const rows = Array.from({ length: 5 }, (_, i) => ({ i, path: '/ä'.repeat(3 * 1024 ** 2) }));
  const pieces = [...packed([{ i: -1 }, ...rows, { i: 5 }])];
  expect(pieces.map((piece) => piece.rows)).toEqual([3, 2, 2]);
  const found = pieces.flatMap(({ bytes }) => unpacked('events/1', bytes));
  expect(found.map(({ i }) => i)).toEqual([-1, 0, 1, 2, 3, 4, 5]);
  expect([...packed([])]).toEqual([]);
});
