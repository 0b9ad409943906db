import { expect, test } from 'vitest';
import type { ExportColumn } from '../../src/clickhouse/export.ts';
import { onEachBackend } from '../support/backends.ts';

const COLUMNS: readonly ExportColumn[] = [
  { name: 'date', type: 'Date32', nullable: false },
  { name: 'path', type: 'String', nullable: false },
  { name: 'count', type: 'Int64', nullable: false },
  { name: 'share', type: 'Float64', nullable: true },
  { name: 'city', type: 'String', nullable: true },
];
const ROWS = [
  { date: '2026-11-20', path: '/a "b", \\n \n\t\r\0 é🙂', count: 2 ** 53 - 1, share: 0.25, city: null },
  { date: '1970-01-01', path: '=1+1', count: 0, share: null, city: '' },
  { date: '2299-12-31', path: "it's {p0:String}", count: -1, share: -0.5, city: 'Köln' },
];

onEachBackend((on) => {
  const ndjson = async (rows: readonly object[]): Promise<unknown[]> =>
    (await on.db.export(COLUMNS, JSON.stringify(rows), 'JSONEachRow'))
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));

  test('every value comes back as it was, in order', async () => {
    expect(await ndjson(ROWS)).toEqual(ROWS);
    expect(await ndjson([])).toEqual([]);
  });

  test('CSV: RFC 4180, an absent value is not an empty text', async () => {
    const csv = await on.db.export(COLUMNS, JSON.stringify(ROWS.slice(1)), 'CSVWithNames');
    expect(csv.toString()).toBe(
      '"date","path","count","share","city"\r\n' +
        '"1970-01-01","=1+1",0,,""\r\n' +
        '"2299-12-31","it\'s {p0:String}",-1,-0.5,"Köln"\r\n',
    );
    expect((await on.db.export(COLUMNS, '[]', 'CSVWithNames')).toString()).toBe(
      '"date","path","count","share","city"\r\n',
    );
  });

  test('Parquet and Arrow, also without rows', async () => {
    for (const json of [JSON.stringify(ROWS), '[]']) {
      const parquet = await on.db.export(COLUMNS, json, 'Parquet');
      expect(parquet.subarray(0, 4).toString()).toBe('PAR1');
      expect(parquet.subarray(-4).toString()).toBe('PAR1');
      const arrow = await on.db.export(COLUMNS, json, 'ArrowStream');
      expect(arrow.readInt32LE(0)).toBe(-1);
    }
  });

  test('more than fits in a URL or a form field', async () => {
    const many = Array.from({ length: 40_000 }, (_, i) => ({
      date: '2026-11-20',
      path: `/${'é\\"🙂'.repeat(i % 7)}/${i}`,
      count: i,
      share: i / 8,
      city: null,
    }));
    expect(await ndjson(many)).toEqual(many);
  });
});
