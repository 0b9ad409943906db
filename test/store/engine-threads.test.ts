import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/clickhouse/sql.ts';
import { type TestStore, testStore } from '../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

test('the embedded engine deletes many parts with few threads', async () => {
  const { db } = store;
  const table = sql`CREATE TABLE many_parts (n UInt32) ENGINE = MergeTree PARTITION BY n ORDER BY n`;
  await db.command('create', table);
  const rows = Array.from({ length: 90 }, (_, n) => ({ n }));
  for (let i = 0; i < 4; i++)
    await db.insert(
      'many_parts',
      rows.map(({ n }) => ({ n: n * 4 + i })),
    );
  const threads = (): number => readdirSync('/proc/self/task').length;
  const before = threads();
  await db.command('drop', sql`DROP TABLE many_parts SYNC`);
  expect(threads() - before).toBeLessThan(20);
});
