import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/clickhouse/database.ts';
import { migrate } from '../../src/clickhouse/migrate.ts';
import { appId } from '../../src/domain/ids.ts';
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
  await db.command('drop test database', `DROP DATABASE IF EXISTS ${place.location.database} SYNC`);
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
