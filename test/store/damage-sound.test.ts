import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { type Sql, sql } from '../../src/clickhouse/sql.ts';
import { BROKEN, detachDamaged } from '../../src/damage/part-files.ts';
import { embeddedPlace } from '../../src/testing/place.ts';
import { hasOneOf, pathsBelow } from '../support/files.ts';

// On the embedded engine, whatever the tests' store: only its files are looked at.
const place = embeddedPlace();
afterAll(() => place.remove());

test('a part whose rows or columns were changed, also by a change that has not ended, is no damaged one', async () => {
  if (place.location.kind !== 'embedded') throw new Error('another store');
  const store = join(place.location.dataDir, 'clickhouse');
  let db = await openDatabase(place.location);
  await migrate(db);
  const [left, gone] = [randomUUID(), randomUUID()];
  const change = (statement: Sql) => db.command('change', statement, { gone });
  for (const id of [left, gone, left]) {
    await db.insert('accounts', [{ account_id: id, name: 'A', plan: 'free', version: 1 }]);
  }
  await change(sql`OPTIMIZE TABLE accounts FINAL`);
  // The engine marks the row as deleted, in a column of its own.
  await change(sql`DELETE FROM accounts WHERE account_id = {gone:UUID}`);
  await db.insert('accounts', [{ account_id: left, name: 'B', plan: 'free', version: 2 }]);
  await change(sql`SYSTEM STOP MERGES accounts`);
  await change(sql`ALTER TABLE accounts DROP COLUMN plan SETTINGS alter_sync = 0, mutations_sync = 0`);
  await db.close();

  detachDamaged(store);
  const files = pathsBelow(store);
  const lists = files.filter((path) => path.endsWith('columns.txt'));
  const marked = lists.filter((path) => hasOneOf(join(store, path), ['_row_exists']));
  expect(marked.length).toBeGreaterThan(0);
  expect(files.filter((path) => path.includes(BROKEN))).toEqual([]);
  db = await openDatabase(place.location);
  const rows = await db.query({
    name: 'accounts',
    sql: sql`SELECT DISTINCT toString(account_id) AS id FROM accounts`,
    row: z.object({ id: z.string() }),
  });
  expect(rows).toEqual([{ id: left }]);
  await db.close();
});
