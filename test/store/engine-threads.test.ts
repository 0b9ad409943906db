import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { embeddedPlace } from '../../src/testing/place.ts';

const place = embeddedPlace();
let db: Database;
beforeAll(async () => {
  db = await openDatabase(place.location);
});
afterAll(async () => {
  await db.close();
  place.remove();
});

test('the embedded engine deletes many parts with few threads', async () => {
  const table = sql`CREATE TABLE many_parts (n UInt32) ENGINE = MergeTree PARTITION BY n ORDER BY n`;
  await db.command('create', table);
  for (let first = 0; first < 360; first += 90) {
    const rows = Array.from({ length: 90 }, (_, i) => ({ n: first + i }));
    await db.insert('many_parts', rows);
  }
  const threads = (): number => readdirSync('/proc/self/task').length;
  const before = threads();
  await db.command('drop', sql`DROP TABLE many_parts SYNC`);
  // By default it starts more than a hundred.
  expect(threads() - before).toBeLessThan(60);
});
