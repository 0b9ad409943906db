import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../src/clickhouse/sql.ts';
import { createJournal } from '../../src/ingestion/journal.ts';
import { journalRows, sessionColumns } from '../../src/ingestion/journal-rows.ts';
import { hoursOf, mergedHours } from '../../src/ingestion/ledger-rows.ts';
import { validateSessions } from '../../src/ingestion/validate.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { NOW, newApp, session, stored, totalsOf } from './ingestion-support.ts';

let store: TestStore;

beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

/** A flush of sessions with one event each: as many rows of the journal as events. */
function flushOf(sessions: number) {
  const { id: app, domain } = newApp();
  const batch = { app, batch: randomUUID() };
  const sent = Array.from({ length: sessions }, (_, i) => session(`s${i}`, 1));
  const valid = validateSessions(sent, { now: NOW, maxAgeDays: null, userAgent: 'x'.repeat(200) }).sessions;
  const columns = valid.map((one) => sessionColumns(one, { app: { id: app, domain }, place: null }));
  const hours = mergedHours(hoursOf(app, valid));
  const batches = [{ ...batch, rows: journalRows(batch, columns) }];
  return { app, flush: { id: randomUUID(), batches, hours } };
}

test.each([100, 9_000, 30_000])(
  'a flush of %i rows that is repeated after its journal was merged changes nothing',
  async (rows) => {
    const journal = createJournal(store.db);
    const { app, flush } = flushOf(rows);
    await journal.claim(flush, true);
    const insert = async (): Promise<void> => {
      await journal.insertEvents(flush.id);
      await journal.commit(flush.id, null);
    };
    await insert();
    for (let i = 0; i < 3; i++) await journal.claim(flushOf(5_000).flush, true);
    await store.db.command('merge', sql`OPTIMIZE TABLE ingest_journal FINAL`, {});
    await insert();
    expect(await totalsOf(store.db, app)).toEqual(stored(rows, rows));
  },
);
