import { afterAll, beforeAll } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../src/clickhouse/database.ts';
import { identifier, sql } from '../../../src/clickhouse/sql.ts';
import { type TestStore, testStore } from '../store.ts';
import type { Subject } from './compare.ts';
import { subjectOn } from './subject.ts';

/** Use it within tests: the store exists only after the first hook. */
export interface OracleStore {
  readonly store: TestStore;
  readonly subject: Subject;
}

/** Makes a store and a subject on it for the tests of a file or group. */
export function oracleStore(): OracleStore {
  let store: TestStore;
  let subject: Subject;
  beforeAll(async () => {
    store = await testStore();
    await storeSparsely(store.db);
    subject = await subjectOn(store.db);
  });
  afterAll(async () => {
    await store.close();
  });
  return {
    get store() {
      return store;
    },
    get subject() {
      return subject;
    },
  };
}

const TABLES = {
  name: 'tables of rows',
  sql: sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
  row: z.object({ name: z.string() }),
};

/**
 * Has the engine store columns sparsely if half of their values are 0 or ''. It handles such columns in its own ways, and
 * small tests would hardly have any. Tables of a cluster stay as they are.
 */
async function storeSparsely(db: Database): Promise<void> {
  for (const { name } of await db.query(TABLES)) {
    await db.command(
      'store sparsely',
      sql`ALTER TABLE ${identifier(name)} MODIFY SETTING ratio_of_defaults_for_sparse_serialization = 0.5`,
    );
  }
}
