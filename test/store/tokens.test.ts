import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { createJournal, type Flush, type Journal } from '../../src/ingestion/journal.ts';
import { TokenMemory } from '../../src/ingestion/tokens.ts';
import { embeddedPlace } from '../../src/testing/place.ts';
import { flushOf, newApp, stored, totalsOf } from './ingestion-support.ts';

/** The engine forgets the oldest of them only now and then. */
const WINDOWS = { usual: 2, longest: 1_000 };
const OTHERS = 12;

const place = embeddedPlace();
let db: Database;
let journal: Journal;
let tokens: TokenMemory;

beforeAll(async () => {
  db = await openDatabase(place.location);
  await migrate(db);
  journal = createJournal(db);
  tokens = new TokenMemory(db, WINDOWS);
});

afterAll(async () => {
  await db.close();
  place.remove();
});

async function store(flush: Flush): Promise<void> {
  await journal.claim(flush, true);
  await journal.insertEvents(flush.id);
  await journal.commit(flush.id, flush.hours);
}

/** Stores a flush, calls `meanwhile`, stores others, and the first one again. Returns the counts of its app. */
async function repeatedAfterOthers(meanwhile: () => Promise<void>) {
  const app = newApp();
  const flush = flushOf(app, randomUUID());
  await store(flush);
  await meanwhile();
  for (let i = 0; i < OTHERS; i++) await store(flushOf(newApp(), randomUUID()));
  await store(flush);
  return totalsOf(db, app.id);
}

test('few tokens are remembered', async () => {
  const { raw, utcDay, ledgerEvents } = await repeatedAfterOthers(() => tokens.keepUp(false));
  expect(Math.min(raw, utcDay, ledgerEvents)).toBeGreaterThan(12);
});

test('all tokens are remembered while a flush is held', async () => {
  expect(await repeatedAfterOthers(() => tokens.keepUp(true))).toEqual(stored(1, 12));
});

test('all tokens are remembered during an erasure', async () => {
  await tokens.keepUp(false);
  const begun = { app_id: newApp().id, erasure_id: randomUUID(), ended: 0, visitor_id: 'v' };
  await db.insert('erasures', [begun]);
  expect(await repeatedAfterOthers(() => tokens.keepUp(false))).toEqual(stored(1, 12));
  await db.command('end', sql`ALTER TABLE erasures DELETE WHERE 1 SETTINGS mutations_sync = 2`);
  expect((await repeatedAfterOthers(() => tokens.keepUp(false))).raw).toBeGreaterThan(12);
});
