import { monitorEventLoopDelay } from 'node:perf_hooks';
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
  const pieces = [...packed(rows)];
  expect(pieces.map((piece) => piece.rows)).toEqual([81, 69]);
  const found = [];
  for (const { bytes } of pieces) found.push(...(await rowsOf(bytes)));
  expect(found).toEqual(rows);
  expect([...packed([])]).toEqual([]);
});

test('a piece of a few bytes that unpacks to very many rows, or to no rows, is refused', async () => {
  const bomb = gzipSync('{}\n'.repeat(600_000));
  expect(bomb.length).toBeLessThan(5_000);
  for (const bytes of [bomb, gzipSync(Buffer.alloc(100 * 1024 ** 2)), gzipSync('null'), gzipSync('[1]')]) {
    await expect(rowsOf(bytes)).rejects.toThrow(BrokenArchive);
  }
});

test('the largest piece is read in steps, with room for others in between', async () => {
  const row = JSON.stringify({
    session_id: 's',
    path: `/${'x'.repeat(60)}`,
    started_at: '2026-11-20 00:00:00.000',
  });
  const lines = `${row}\n`.repeat(490_000);
  const bytes = gzipSync(lines);
  const parse = (): unknown => lines.split('\n', 4_000).map((line) => JSON.parse(line) as unknown);
  parse();
  const began = performance.now();
  parse();
  // One group is as much work as 4,000 rows, and this machine may be busy.
  const most = Math.max(100, 20 * (performance.now() - began));
  const watch = monitorEventLoopDelay({ resolution: 5 });
  watch.enable();
  let count = 0;
  for await (const rows of unpacked('events/1', bytes)) count += rows.length;
  watch.disable();
  expect(count).toBe(490_000);
  expect(watch.max / 1e6).toBeLessThan(most);
});

test('a row or a piece of one value that is very long is refused before it is parsed', async () => {
  const long = JSON.stringify({ path: 'x'.repeat(30 * 1024 ** 2) });
  await expect(rowsOf(gzipSync(long))).rejects.toThrow(BrokenArchive);
  expect(() => parsed(AppPiece, 'app.json', Buffer.from(long))).toThrow(BrokenArchive);
});
