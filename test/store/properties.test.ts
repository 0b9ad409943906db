import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import { importFiles } from '../../src/cli/import/import.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { seal } from '../../src/facts/pass.ts';
import type { Ingestion } from '../../src/ingestion/ingestion.ts';
import { createJournal } from '../../src/ingestion/journal.ts';
import type { SdkApp } from '../../src/metadata/types.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { flushOf, ingestionOn, NOW, newApp, REQUEST } from './ingestion-support.ts';

let store: TestStore;
let ingestion: Ingestion;
let folder: string;
let app: SdkApp;

beforeAll(async () => {
  store = await testStore();
  ingestion = ingestionOn(store.db);
  folder = mkdtempSync(join(tmpdir(), 'analytics-properties-'));
});
afterAll(async () => {
  await store.close();
  removeFolder(folder);
});
beforeEach(() => {
  app = newApp();
});

const EVER = { from: null, to: null };
const START = NOW - 3_600_000;
const at = (ms: number): string => new Date(START + ms).toISOString();
const custom = (ms: number, properties?: unknown, name = 'signup') => ({
  type: 'custom',
  timestamp: at(ms),
  path: '/',
  name,
  ...(properties === undefined ? {} : { properties }),
});
const visit = (id: string, events: readonly object[], visitorId = `v-${id}`) => ({
  id,
  visitorId,
  startedAt: at(0),
  events,
});
const accept = (sessions: readonly object[]) =>
  ingestion.accept(app, { batchId: randomUUID(), sessions }, REQUEST);
const values = async (key: string, name = 'signup') => [
  ...(await steadyAnalytics({ db: store.db }).events(app.id, EVER, {
    type: 'custom',
    property: { name, key },
  })),
];
const row = (name: string | null, count: number, sessions = count, visitors = sessions) => ({
  name,
  count,
  sessions,
  visitors,
});
const texts = async (): Promise<string[]> => {
  const query = {
    name: 'properties of an app',
    sql: sql`SELECT properties FROM events WHERE app_id = {app:UUID} ORDER BY timestamp, properties`,
    row: z.object({ properties: z.string() }).transform(({ properties }) => properties),
  };
  return store.db.query(query, { app: app.id });
};

/** Keys and values on which a statement or JSON could stumble. */
const WORST = [
  "it's",
  '"quoted"',
  'back\\slash',
  '\\n\\',
  '{x:String}',
  '{app:UUID}',
  '🌼',
  '％',
  "');--",
  'a\u2028b',
  '10',
  '__proto__',
];

describe('the values of a property', () => {
  test('count events, sessions and visitors; absent is null, last among equal counts', async () => {
    await accept([
      visit('a', [custom(1, { plan: 'pro', n: 1 }), custom(2, { plan: 'pro', n: '1' }), custom(3)], 'x'),
      visit(
        'b',
        [custom(4, { plan: 'pro' }), custom(5, { plan: 'free', n: 1 }), custom(5, { plan: '' })],
        'x',
      ),
      visit('c', [custom(6, { plan: 'free' }), custom(7, { plan: 'pro' }, 'other')], 'y'),
    ]);
    for (const sealed of [false, true]) {
      if (sealed) await seal({ db: store.db, only: [app.id] }, NOW);
      expect(await values('plan')).toEqual([row('pro', 3, 2, 1), row('free', 2, 2, 2), row(null, 2, 2, 1)]);
      expect(await values('n')).toEqual([row(null, 4, 3, 2), row('1', 3, 2, 1)]);
      expect(await values('PLAN')).toEqual([row(null, 7, 3, 2)]);
      expect(await values('plan', 'nothing')).toEqual([]);
    }
  });

  test.each(WORST)('key and value %j', async (text) => {
    await accept([
      visit('a', [
        { ...custom(1), properties: JSON.parse(`{${JSON.stringify(text)}:${JSON.stringify(text)}}`) },
      ]),
    ]);
    expect(await values(text)).toEqual([row(text, 1)]);
    expect(await values(`${text}x`)).toEqual([row(null, 1)]);
  });

  test('key and value with NUL and lone surrogates', async () => {
    await accept([visit('a', [custom(1, { 'a\0b': 'x\0y', 'k\ud800': '\udc00' })])]);
    expect(await values('ab')).toEqual([row('xy', 1)]);
    expect(await values('k\ufffd')).toEqual([row('\ufffd', 1)]);
    // What a caller asks for has the same UTF-8 form.
    expect(await values('k\ud800')).toEqual([row('\ufffd', 1)]);
    expect(await values('a\0b')).toEqual([row(null, 1)]);
  });
});

describe('properties are stored', () => {
  test('of the event that has them, in a batch with others', async () => {
    await accept([
      visit('a', [{ type: 'pageview', timestamp: at(0), path: '/' }, custom(1, { b: 1, a: 'x' }), custom(2)]),
      visit('b', [custom(3)]),
    ]);
    expect(await texts()).toEqual(['', '{"a":"x","b":"1"}', '', '']);
  });

  test('by a flush of the journal that another process left behind, with and without them', async () => {
    const journal = createJournal(store.db);
    const flush = flushOf(app, randomUUID());
    await journal.claim(flush, true);
    await journal.insertEvents(flush.id);
    // A row of an earlier version has no such column.
    expect(flush.batches.flatMap(({ rows }) => rows).join()).not.toContain('properties');
    expect(await texts()).toEqual(Array.from({ length: 12 }, () => ''));
    await journal.insertEvents(flush.id);
    expect(await texts()).toHaveLength(12);
  });
});

describe('an NDJSON file', () => {
  const load = (sessions: readonly object[]) => {
    const file = join(folder, `${randomUUID()}.ndjson`);
    writeFileSync(file, sessions.map((session) => `${JSON.stringify(session)}\n`).join(''));
    return importFiles({
      files: [file],
      app: app.id,
      format: null,
      now: NOW,
      stateRoot: mkdtempSync(join(folder, 'state-')),
      send: (body) => ingestion.importHistory(app, JSON.parse(body).sessions),
      patienceMs: 0,
      screen: { isTerminal: false, write: () => undefined },
    });
  };

  test('brings properties, and counts once if it is imported again, in any order of the keys', async () => {
    const first = visit('a', [
      custom(1, { a: 'x', b: 2 }),
      custom(1, { a: 'y' }),
      custom(1),
      custom(1, { a: 'y' }),
    ]);
    expect(await load([first])).toMatchObject({ events: 4, duplicates: 0 });
    const again = visit('a', [
      custom(1),
      custom(1, { a: 'y' }),
      custom(1, { b: '2', a: 'x ' }),
      custom(1, { a: 'y' }),
    ]);
    expect(await load([again])).toMatchObject({ events: 0, duplicates: 4 });
    const longer = visit('a', [...first.events, custom(1, { a: 'z' }), custom(1, { a: 'y' })]);
    expect(await load([longer])).toMatchObject({ events: 2, duplicates: 4 });
    expect(await values('a')).toEqual([row('y', 3, 1), row('x', 1), row('z', 1), row(null, 1)]);
  });

  test('that a version without properties imported is not counted again', async () => {
    const sessions = [visit('a', [custom(1, { a: 'x' }), custom(2)])];
    expect(await load([visit('a', [custom(1), custom(2)])])).toMatchObject({ events: 2 });
    const past = sql`ALTER TABLE ${store.db.shards.stored('events')} UPDATE inserted_at = toDateTime64('2026-01-01 00:00:00', 3, 'UTC') WHERE app_id = {app:UUID} SETTINGS mutations_sync = 2`;
    await store.db.command('as if inserted earlier', past, { app: app.id });
    expect(await load(sessions)).toMatchObject({ events: 0, duplicates: 2 });
    expect(await texts()).toEqual(['', '']);
  });
});
