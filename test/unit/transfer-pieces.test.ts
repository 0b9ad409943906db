import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { BrokenArchive } from '../../src/transfer/archive.ts';
import { packed, unpacked } from '../../src/transfer/format.ts';

test('rows are split into pieces that an import reads, and none is lost', () => {
  const rows = Array.from({ length: 5 }, (_, i) => ({ i, path: '/ä'.repeat(3 * 1024 ** 2) }));
  const pieces = [...packed([{ i: -1 }, ...rows, { i: 5 }])];
  expect(pieces.map((piece) => piece.rows)).toEqual([3, 2, 2]);
  const found = pieces.flatMap(({ bytes }) => unpacked('events/1', bytes));
  expect(found.map(({ i }) => i)).toEqual([-1, 0, 1, 2, 3, 4, 5]);
  expect([...packed([])]).toEqual([]);
});

test('a piece of a few bytes that unpacks to very many rows, or to no rows, is refused', () => {
  const bomb = gzipSync('{}\n'.repeat(600_000));
  expect(bomb.length).toBeLessThan(5_000);
  for (const bytes of [bomb, gzipSync(Buffer.alloc(100 * 1024 ** 2)), gzipSync('null'), gzipSync('[1]')]) {
    expect(() => unpacked('events/1', bytes)).toThrow(BrokenArchive);
  }
});
