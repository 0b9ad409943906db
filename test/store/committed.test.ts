import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { identifier, sql } from '../../src/clickhouse/sql.ts';
import { appId } from '../../src/domain/ids.ts';
import { epochMs } from '../../src/domain/time.ts';
import { createSnapshots } from '../../src/facts/snapshots.ts';
import { createCommitted } from '../../src/ingestion/committed.ts';
import { embeddedPlace } from '../../src/testing/place.ts';

// On the embedded engine, whatever the tests' store: only there is a process alone.
const place = embeddedPlace();
const statements: string[] = [];
let db: Database;

beforeAll(async () => {
  db = await openDatabase(place.location, { onStatement: ({ name }) => statements.push(name) });
  await migrate(db);
});
afterAll(async () => {
  await db.command(
    'drop test database',
    sql`DROP DATABASE IF EXISTS ${identifier(place.location.database)} SYNC`,
  );
  await db.close();
  place.remove();
});

const commit = (app: string, events: number): Promise<void> =>
  db.insert('ledger', [{ app_id: app, kind: 'event', hour: 1_763_600_400, events }]);

test('one statement for all apps, and none while nothing is written', async () => {
  const read = createCommitted(db);
  const [one, two, empty] = [appId(randomUUID()), appId(randomUUID()), appId(randomUUID())];
  await commit(one, 3);
  await commit(two, 4);
  await commit(one, 5);
  statements.length = 0;
  const expected = new Map([
    [one, 8],
    [two, 4],
  ]);
  expect(await read([one, two, empty])).toEqual(expected);
  expect(await read([two, one])).toEqual(expected);
  expect(statements).toEqual(['committed events of apps']);
  await commit(two, 1);
  expect((await read([one, two])).get(two)).toBe(5);
  const third = appId(randomUUID());
  expect((await read([one, two, third])).get(third)).toBeUndefined();
  expect(statements.filter((name) => name !== 'insert ledger')).toHaveLength(3);
});

test('one statement for all ranges of an app that are asked for again, after each write', async () => {
  const app = appId(randomUUID());
  const read = createSnapshots(db);
  const HOUR = 1_763_600_400_000;
  const range = (from: number) => ({ from: epochMs(HOUR + from), to: epochMs(HOUR + 3_599_999) });
  const scopes = [
    { events: null, sessions: null },
    { events: range(0), sessions: null },
    { events: range(-7_200_000), sessions: range(0) },
    { events: range(3_600_000), sessions: null },
  ];
  const versions = async (of = read) => {
    const snapshots = await Promise.all(scopes.map((scope) => of(app, scope)));
    return snapshots.map(({ version, asOf }) => ({ version, isKnown: asOf !== null }));
  };
  for (let writes = 1; writes <= 5; writes++) {
    await commit(app, 2);
    statements.length = 0;
    const answers = await versions();
    // Ranges are known after they were asked for twice.
    expect(statements.length).toBe(writes < 3 ? scopes.length : 1);
    expect(await versions()).toEqual(answers);
    expect(answers).toEqual(await versions(createSnapshots(db)));
    expect(answers.map(({ version }) => version[0])).toEqual([0, 2 * writes, 2 * writes, 0]);
  }
});
