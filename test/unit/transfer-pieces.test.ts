import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { BrokenArchive } from '../../src/transfer/archive.ts';
import { AppPiece, packed, parsed, unpacked } from '../../src/transfer/format.ts';

/** Node 20 has no Array.fromAsync. */
async function rowsOf(bytes: Buffer): Promise<Record<string, unknown>[]> {
  const found = [];
  for await (const rows of unpacked('events/1', bytes)) found.push(...rows);
  return found;
}

test('rows are split into pieces that an import reads, and none is lost', async () => {
  const rows = Array.from({ length: 150 }, (_, i) => ({ i, path: '/ä'.repeat(100 * 1024) }));
  const pieces = [];
  for await (const piece of packed(rows)) pieces.push(piece);
  expect(pieces.map((piece) => piece.rows)).toEqual([81, 69]);
  const found = [];
  for (const { bytes } of pieces) found.push(...(await rowsOf(bytes)));
  expect(found).toEqual(rows);
  for await (const piece of packed([])) throw new Error(`a piece of ${piece.rows} rows`);
});

test('a piece of a few bytes that unpacks to very many rows, or to no rows, is refused', async () => {
  const bomb = gzipSync('{}\n'.repeat(600_000));
  expect(bomb.length).toBeLessThan(5_000);
  for (const bytes of [bomb, gzipSync(Buffer.alloc(100 * 1024 ** 2)), gzipSync('null'), gzipSync('[1]')]) {
    await expect(rowsOf(bytes)).rejects.toThrow(BrokenArchive);
  }
});

/** Counts the turns of the event loop. */
function turnsOfLoop(): { readonly count: () => number; end(): void } {
  let [turns, isOver] = [0, false];
  const next = (): void => {
    turns++;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  return {
    count: () => turns,
    end: () => {
      isOver = true;
    },
  };
}

// The largest pieces: very many rows, and rows of the greatest length. A step is work of some milliseconds.
test.each([
  [490_000, 60],
  [128, 500 * 1024],
])(
  'a piece of %i rows with paths of %i is read in small steps, each in its own turn',
  async (rows, length) => {
    const row = JSON.stringify({
      session_id: 's',
      path: `/${'x'.repeat(length)}`,
      started_at: '2026-11-20 00:00:00.000',
    });
    const bytes = gzipSync(`${row}\n`.repeat(rows));
    const turns = turnsOfLoop();
    let [count, last] = [0, -1];
    for await (const group of unpacked('events/1', bytes)) {
      count += group.length;
      expect(group.length).toBeLessThanOrEqual(2_000);
      expect(group.length * row.length).toBeLessThanOrEqual(1024 ** 2);
      expect(turns.count()).toBeGreaterThan(last);
      last = turns.count();
    }
    turns.end();
    expect(count).toBe(rows);
  },
);

test('the largest piece is written in small steps, each in its own turn', async () => {
  const row = { session_id: 's', path: `/${'x'.repeat(60)}` };
  const rows = Array.from({ length: 100_000 }, () => row);
  const turns = turnsOfLoop();
  let count = 0;
  for await (const piece of packed(rows)) count += piece.rows;
  turns.end();
  expect(count).toBe(rows.length);
  expect(turns.count()).toBeGreaterThanOrEqual(rows.length / 2_000);
});

test('a row or a piece of one value that is very long is refused before it is parsed', async () => {
  const long = JSON.stringify({ path: 'x'.repeat(30 * 1024 ** 2) });
  await expect(rowsOf(gzipSync(long))).rejects.toThrow(BrokenArchive);
  expect(() => parsed(AppPiece, 'app.json', Buffer.from(long))).toThrow(BrokenArchive);
});
