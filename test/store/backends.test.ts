import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { StoreLocation } from '../../src/clickhouse/connect.ts';
import { type Database, dateTime64, openDatabase, type Query } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { number, rowOf, text } from '../../src/clickhouse/row.ts';
import { identifier, type Sql, sql } from '../../src/clickhouse/sql.ts';
import { AppError } from '../../src/domain/errors.ts';
import { embeddedPlace } from '../../src/testing/place.ts';
import { onEachBackend } from '../support/backends.ts';
import { bridgeProcess } from '../support/bridge-process.ts';
import { serverStore, testLocation } from '../support/store.ts';

const APP = '0b5c2a9e-6f4d-4c39-9d0e-0d3f6f1b2a11';
const START = Date.parse('2026-03-01T10:00:00.250Z');

/** The same statements give the same answers on the embedded engine and over ClickHouse's HTTP interface. */
onEachBackend((on) => {
  let db: Database;

  beforeAll(async () => {
    db = on.db;
    await db.command(
      'create samples',
      sql`CREATE TABLE samples (at DateTime64(3, 'UTC'), name String, amount UInt64)
       ENGINE = MergeTree ORDER BY at SETTINGS non_replicated_deduplication_window = 100`,
    );
    await db.command(
      'create sample_totals',
      sql`CREATE TABLE sample_totals (name String, amount UInt64)
       ENGINE = SummingMergeTree ORDER BY name SETTINGS non_replicated_deduplication_window = 100`,
    );
    await db.command(
      'create sample view',
      sql`CREATE MATERIALIZED VIEW sample_view TO sample_totals AS SELECT name, sum(amount) AS amount FROM samples GROUP BY name`,
    );
  });

  const total = async (name: string): Promise<{ rows: number; amount: number; rolledUp: number }> =>
    db.queryOne(SAMPLE_TOTAL, { name });

  test('an insert goes through the views on events', async () => {
    await db.insert('events', [
      event({ type: 'pageview', at: START, has_context: 1, visitor_id: 'v1' }),
      event({ type: 'click', at: START + 1_000 }),
    ]);
    const session = await db.queryOne(SESSION, { app: APP });
    expect(session).toEqual({ startedAt: START, pageviews: 1, clicks: 1, visitor: 'v1', lastOffset: 1_000 });
  });

  test('equal inserts without a token both count', async () => {
    const row = { at: dateTime64(START), name: 'plain', amount: 2 };
    await db.insert('samples', [row]);
    await db.insert('samples', [row]);
    expect(await total('plain')).toEqual({ rows: 2, amount: 4, rolledUp: 4 });
  });

  test('the same token twice stores once, in the views too, and does not leak into the next insert', async () => {
    const rows = [{ at: dateTime64(START), name: 'token', amount: 5 }];
    await db.insert('samples', rows, { token: 'batch-1' });
    await db.insert('samples', rows, { token: 'batch-1' });
    expect(await total('token')).toEqual({ rows: 1, amount: 5, rolledUp: 5 });
    await db.insert('samples', rows, { token: 'batch-2' });
    await db.insert('samples', rows);
    expect(await total('token')).toEqual({ rows: 3, amount: 15, rolledUp: 15 });
  });

  test('parallel inserts with one token store once', async () => {
    const rows = [{ at: dateTime64(START), name: 'parallel', amount: 7 }];
    await Promise.all(Array.from({ length: 8 }, () => db.insert('samples', rows, { token: 'parallel' })));
    expect(await total('parallel')).toEqual({ rows: 1, amount: 7, rolledUp: 7 });
  });

  test('parameters arrive unchanged', async () => {
    const values = {
      text: 'tab\t newline\n return\r quote\' double" back\\slash \\N سلام 🙂 {x:String} ; --',
      empty: '',
      whole: -1_234_567_890_123,
      flag: true,
      texts: ["it's", 'a,b', '[c]', 'd\\e', '', 'سلام'],
      numbers: [1, -2, 9_007_199_254_740_991],
      none: [],
    };
    expect(await db.queryOne(ECHO, values)).toEqual(values);
  });

  test('a time keeps its milliseconds', async () => {
    const at = Date.parse('2026-11-20T07:16:00.257Z');
    expect(await db.queryOne(TIME, { at })).toEqual({ at, text: '2026-11-20 07:16:00.257' });
  });

  test('a missing parameter is an error', async () => {
    await expect(db.query(TIME)).rejects.toMatchObject({ code: '456' });
  });

  test('an unknown table and a syntax error are bugs, not refusals', async () => {
    const query = (wrong: Sql) => db.query({ name: 'wrong', sql: wrong, row: z.unknown() });
    await expect(query(sql`SELECT * FROM no_such_table`)).rejects.toMatchObject({ code: '60' });
    await expect(query(sql`SELEC 1`)).rejects.toMatchObject({ code: '62' });
    await expect(query(sql`SELEC 1`)).rejects.not.toBeInstanceOf(AppError);
  });

  test('a statement above its time or memory is refused as overload', async () => {
    const slow: Query<unknown> = {
      name: 'slow',
      sql: sql`SELECT count() FROM (SELECT number FROM numbers(100000000000) WHERE sipHash64(number) = 1)`,
      row: z.unknown(),
    };
    // A second later a client of a server no longer waits for its refusal. On a busy machine that may come first.
    await expect
      .poll(() => db.query(slow, {}, { maxSeconds: 1 }).catch((error: unknown) => error))
      .toMatchObject({ code: 'overloaded', retryAfterSeconds: 2 });
    const large: Query<unknown> = {
      name: 'large',
      sql: sql`SELECT length(groupArray(number)) FROM numbers(50000000)`,
      row: z.unknown(),
    };
    await expect(db.query(large, {}, { maxMemoryBytes: 50_000_000 })).rejects.toMatchObject({
      code: 'overloaded',
    });
  });

  test('a list is sorted in files if it needs more memory than one has', async () => {
    const texts = (count: number) => ({
      name: 'texts',
      sql: sql`SELECT concat(toString(number % ${count}), repeat('x', 100)) AS text, count() FROM numbers(${2 * count}) GROUP BY text ORDER BY toUInt32(replaceAll(text, 'x', ''))`,
      row: rowOf([text, number]),
    });
    const rows = [...(await db.list(texts(300_000)))];
    expect(rows).toHaveLength(300_000);
    expect([rows[0], rows.at(-1)]).toEqual([
      [`0${'x'.repeat(100)}`, 2],
      [`299999${'x'.repeat(100)}`, 2],
    ]);
    expect(await db.rowsUpTo(texts(300_000), 1_000_000)).toBeNull();
    expect(await db.rowsUpTo(texts(10), 1_000_000)).toHaveLength(10);
  });

  test('a failed list fails, and is in no other answer', async () => {
    const failing = {
      name: 'failing list',
      sql: sql`SELECT number, throwIf(number = 900000) FROM numbers(1000000)`,
      row: rowOf([number, number]),
    };
    await expect(db.list(failing)).rejects.toMatchObject({ code: '395' });
    expect(await db.queryOne(TIME, { at: START })).toMatchObject({ at: START });
  });

  test('rows of a failed statement are in no other answer', async () => {
    const failing: Query<unknown> = {
      name: 'failing',
      sql: sql`SELECT number, throwIf(number = 900000) FROM numbers(1000000)`,
      row: z.unknown(),
    };
    for (let i = 0; i < 8; i++) await expect(db.query(failing)).rejects.toThrow();
    const ats = Array.from({ length: 40 }, (_, i) => START + i);
    const answers = await Promise.all(ats.map((at) => db.query(TIME, { at })));
    expect(answers).toEqual(ats.map((at) => [expect.objectContaining({ at })]));
  });

  test('a statement with values does not wait for a slow one on another lane', async () => {
    const name = 'slow';
    const slow = db.queryOne(SLOW, { name }, { lane: 'seal' });
    let isOver = false;
    const ended = slow.finally(() => {
      isOver = true;
    });
    await db.queryOne(SAMPLE_TOTAL, { name }, { lane: 'lookup' });
    expect(isOver).toBe(false);
    expect(await ended).toEqual({ name });
  });

  test('many statements at once each get their own answer', async () => {
    const ats = Array.from({ length: 60 }, (_, i) => START + i);
    const answers = await Promise.all(ats.map((at) => db.queryOne(TIME, { at })));
    expect(answers.map(({ at }) => at)).toEqual(ats);
  });
});

test('stored rows are there after the database was opened again', async () => {
  const place = testLocation();
  try {
    const first = await openDatabase(place.location);
    await migrate(first);
    await first.insert('events', [event({ type: 'pageview', at: START, has_context: 1, visitor_id: 'v1' })]);
    await first.close();
    const again = await openDatabase(place.location);
    try {
      expect(await migrate(again)).toEqual([]);
      expect(await again.queryOne(SESSION, { app: APP })).toMatchObject({ pageviews: 1, visitor: 'v1' });
    } finally {
      await again.command('drop', sql`DROP DATABASE ${identifier(place.location.database)} SYNC`);
      await again.close();
    }
  } finally {
    place.remove();
  }
});

describe('a server that cannot be used', () => {
  const nobody: StoreLocation = {
    kind: 'server',
    url: 'http://127.0.0.1:1',
    username: 'default',
    password: '',
    database: 'analytics',
  };

  test('nothing listens: opening fails', async () => {
    await expect(openDatabase(nobody)).rejects.toThrow(/ECONNREFUSED/);
  });

  test('wrong credentials: opening fails and says so', async () => {
    const bridge = await bridgeProcess();
    try {
      await expect(openDatabase({ ...nobody, url: bridge.url, password: 'wrong' })).rejects.toMatchObject({
        code: '516',
      });
    } finally {
      await bridge.close();
    }
  });

  test('a server that goes away: statements are refused as unavailable', async () => {
    const bridge = await bridgeProcess();
    const store = await serverStore(bridge);
    await bridge.close();
    await expect(store.db.queryOne(TIME, { at: START })).rejects.toMatchObject({ code: 'store_unavailable' });
    await store.db.close();
  });
});

test('an invalid name is refused before it reaches the store', async () => {
  const place = embeddedPlace();
  const location = { ...place.location, database: 'x; DROP DATABASE y' };
  await expect(openDatabase(location)).rejects.toThrow('not a database name');
  place.remove();
});

const event = ({ at, ...rest }: { type: string; at: number; has_context?: number; visitor_id?: string }) => ({
  app_id: APP,
  timestamp: dateTime64(at),
  session_id: 's1',
  started_at: dateTime64(START),
  path: '/',
  label: '',
  latitude: -999,
  longitude: -999,
  ...rest,
});

const SAMPLE_TOTAL: Query<{ rows: number; amount: number; rolledUp: number }> = {
  name: 'sample total',
  sql: sql`SELECT count() AS rows, sum(amount) AS amount,
          (SELECT sum(amount) FROM sample_totals WHERE name = {name:String}) AS rolledUp
        FROM samples WHERE name = {name:String}`,
  row: z.object({ rows: z.number(), amount: z.number(), rolledUp: z.number() }),
};

const SLOW: Query<{ name: string }> = {
  name: 'slow',
  sql: sql`SELECT {name:String} AS name, sleep(3)`,
  row: z.object({ name: z.string() }),
};

const SESSION = {
  name: 'session',
  sql: sql`SELECT toUnixTimestamp64Milli(started_at) AS startedAt, sum(pageviews) AS pageviews, sum(clicks) AS clicks,
          min(visitor).2 AS visitor, max(last_offset) AS lastOffset
        FROM sessions WHERE app_id = {app:UUID} GROUP BY started_at`,
  row: z.object({
    startedAt: z.number(),
    pageviews: z.number(),
    clicks: z.number(),
    visitor: z.string(),
    lastOffset: z.number(),
  }),
} satisfies Query<unknown>;

const ECHO = {
  name: 'echo',
  sql: sql`SELECT {text:String} AS text, {empty:String} AS empty, {whole:Int64} AS whole, {flag:Bool} AS flag,
          {texts:Array(String)} AS texts, {numbers:Array(Int64)} AS numbers, {none:Array(String)} AS none`,
  row: z.object({
    text: z.string(),
    empty: z.string(),
    whole: z.number(),
    flag: z.boolean(),
    texts: z.array(z.string()),
    numbers: z.array(z.number()),
    none: z.array(z.string()),
  }),
} satisfies Query<unknown>;

const TIME: Query<{ at: number; text: string }> = {
  name: 'time',
  sql: sql`SELECT toUnixTimestamp64Milli(moment) AS at, toString(moment) AS text
        FROM (SELECT fromUnixTimestamp64Milli({at:Int64}, 'UTC') AS moment)`,
  row: z.object({ at: z.number(), text: z.string() }),
};
