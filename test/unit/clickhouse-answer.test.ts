import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { readRows } from '../../src/clickhouse/answer.ts';
import { textOf } from '../../src/clickhouse/answer-file.ts';

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => [`/é🙂"\\"],\n\t]${'x'.repeat(i % 900)}${i}`, i, [i, [`],`]]]);
/** Rows in the engine's format. */
const answerOf = (rows: readonly unknown[]): Buffer =>
  Buffer.from(
    `{\n\t"meta":\n\t[\n\t\t{\n\t\t\t"name": "a",\n\t\t\t"type": "String"\n\t\t}\n\t],\n\n\t"data":\n\t[\n${rows
      .map((row) => `\t\t${JSON.stringify(row)}`)
      .join(
        ',\n',
      )}\n\t],\n\n\t"rows": ${rows.length},\n\n\t"statistics":\n\t{\n\t\t"elapsed": 0.001,\n\t\t"rows_read": 7\n\t}\n}\n`,
  );
const inChunks = (bytes: Buffer, size: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    ),
  );

describe.each([0, 1, 500, 5_000])('%i rows', (count) => {
  const rows = rowsOf(count);
  const whole = answerOf(rows);

  test.each([997, 65_536, 1e9])('in chunks of %i bytes', async (size) => {
    const answer = await readRows(inChunks(whole, size));
    expect(answer).toEqual({ names: ['a'], rows, rowsRead: 7 });
  });

  test.each([997, 65_536, 1e9])('as a list, from chunks of %i bytes', async (size) => {
    const list = await (await textOf(inChunks(whole, size), undefined)).list();
    expect([list.names, list.rowsRead]).toEqual([['a'], 7]);
    // The list can be read repeatedly.
    for (let time = 0; time < 2; time++) expect([...list.rows]).toEqual(rows);
  });

  test.each([3, 60, whole.length >> 1, whole.length - 100])(
    'is refused without its last %i bytes',
    async (missing) => {
      const cut = whole.subarray(0, Math.max(0, whole.length - missing));
      const failed = Buffer.concat([cut, Buffer.from('\nCode: 241. DB::Exception: too much')]);
      for (const [bytes, code] of [
        [cut, 'store_unavailable'],
        [failed, '241'],
      ] as const) {
        await expect(readRows(inChunks(bytes, 65_536))).rejects.toMatchObject({ code });
        const text = await textOf(inChunks(bytes, 65_536), undefined);
        await expect(text.list()).rejects.toMatchObject({ code });
      }
    },
  );
});
