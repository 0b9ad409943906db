import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { identifier, join as listed, quoted, type Sql, sql } from '../../src/clickhouse/sql.ts';
import { Bodies, type Body } from '../../src/http/forms/bodies.ts';
import { coded } from '../../src/http/forms/coding.ts';
import { writeArrow, writeParquet } from '../../src/http/forms/columnar.ts';
import type { Column } from '../../src/http/forms/columns.ts';
import { writeJson } from '../../src/http/forms/json-lines.ts';
import { type WriteForm, writeCsv, writeNdjson } from '../../src/http/forms/rows.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { embeddedPlace } from '../../src/testing/place.ts';

const COLUMNS: readonly Column[] = [
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
/** Several pieces of every form, so they are files. */
const MANY = Array.from({ length: 40_000 }, (_, i) => ({
  date: '2026-11-20',
  path: `/${'é\\"🙂\n,'.repeat(i % 37)}/${i}`,
  count: i % 2 === 0 ? i : -i,
  share: i % 3 === 0 ? null : i / 8,
  city: i % 5 === 0 ? null : `${i % 7}`,
}));

const place = embeddedPlace();
const folder = mkdtempSync(join(tmpdir(), 'analytics-forms-'));
const bodies = new Bodies(join(folder, 'bodies'));
let db: Database;
beforeAll(async () => {
  db = await openDatabase(place.location);
});
afterAll(async () => {
  bodies.close();
  await db?.close();
  place.remove();
  removeFolder(folder);
});

async function read(body: Body): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of body.pieces()) pieces.push(piece);
  return Buffer.concat(pieces);
}

const list = (rows: readonly object[]): Promise<Body> => bodies.collect(writeJson(rows));
const written = async (write: WriteForm, rows: readonly object[]): Promise<Buffer> =>
  read(await bodies.collect(write(COLUMNS, await list(rows))));

test('JSON: a list has one item per line, other values are unchanged', async () => {
  expect((await read(await list([]))).toString()).toBe('[]');
  expect((await read(await list([{ a: 1 }, { a: '\n' }]))).toString()).toBe('[{"a":1},\n{"a":"\\n"}]');
  expect((await read(await bodies.collect(writeJson({ a: [1, 2] })))).toString()).toBe('{"a":[1,2]}');
  expect(JSON.parse((await read(await list(MANY))).toString())).toEqual(MANY);
});

test.each([0, 1, 3, MANY.length])(
  'NDJSON: every value of %i rows comes back unchanged, in order',
  async (count) => {
    const rows = count === 3 ? ROWS : MANY.slice(0, count);
    const lines = (await written(writeNdjson, rows)).toString().split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows);
  },
);

test('CSV: RFC 4180, an absent value is not an empty text', async () => {
  expect((await written(writeCsv, ROWS.slice(1))).toString()).toBe(
    '"date","path","count","share","city"\r\n' +
      '"1970-01-01","=1+1",0,,""\r\n' +
      '"2299-12-31","it\'s {p0:String}",-1,-0.5,"Köln"\r\n',
  );
  expect((await written(writeCsv, [])).toString()).toBe('"date","path","count","share","city"\r\n');
});

test.each([
  ['Parquet', writeParquet],
  ['ArrowStream', writeArrow],
] as const)(
  '%s: the engine reads every value, type and order; the same rows give the same bytes',
  async (format, write) => {
    for (const rows of [ROWS, MANY, []]) {
      const bytes = await written(write, rows);
      expect((await written(write, rows)).equals(bytes)).toBe(true);
      const path = join(folder, format);
      writeFileSync(path, bytes);
      const engine = (select: Sql): Promise<Record<string, unknown>[]> =>
        db.query({
          name: 'read back',
          // Without the setting the engine reads row groups in any order.
          sql: sql`SELECT ${select} FROM (SELECT * FROM file(${quoted(path)}, ${identifier(format)}) SETTINGS input_format_parquet_preserve_order = 1)`,
          row: z.record(z.string(), z.unknown()),
        });
      expect(await engine(sql`*`)).toEqual(rows);
      const types = COLUMNS.map(({ name }) => identifier(name)).map(
        (name) => sql`any(toTypeName(${name})) AS t_${name}`,
      );
      const [found] = await engine(listed(types));
      if (rows.length > 0)
        expect(Object.values(found ?? {})).toEqual(
          COLUMNS.map(({ type, nullable }) => (nullable ? `Nullable(${type})` : type)),
        );
    }
  },
);

test('Parquet: the bounds of each row group hold for its texts', async () => {
  const path = join(folder, 'bounds.parquet');
  writeFileSync(path, await written(writeParquet, MANY));
  const groups = await db.query({
    name: 'bounds',
    sql: sql`WITH arrayFirst(column -> column.name = 'path', part.columns).statistics AS bounds
SELECT part.num_rows AS rows, bounds.min AS least, bounds.max AS greatest
FROM file(${quoted(path)}, ParquetMetadata) ARRAY JOIN row_groups AS part`,
    row: z.object({ rows: z.coerce.number(), least: z.string(), greatest: z.string() }),
  });
  expect(groups.length).toBeGreaterThan(1);
  let first = 0;
  for (const { rows, least, greatest } of groups) {
    const paths = MANY.slice(first, first + rows).map((row) => Buffer.from(row.path));
    paths.sort(Buffer.compare);
    // They may be shortened: the least then comes before it, the greatest after it.
    expect(String(paths[0]).startsWith(least)).toBe(true);
    expect(Buffer.compare(Buffer.from(greatest), paths.at(-1) as Buffer)).toBeGreaterThanOrEqual(0);
    first += rows;
  }
  expect(first).toBe(MANY.length);
});

test.each([
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
] as const)('%s: a large body is the same after decompression', async (coding, decompressed) => {
  const body = await list(MANY);
  const small = await bodies.collect(coded(body, coding));
  expect(small.length).toBeLessThan(body.length);
  expect(decompressed(await read(small)).equals(await read(body))).toBe(true);
});
