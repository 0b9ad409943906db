import { expect, test } from 'vitest';
import { quoted, sql } from '../../src/clickhouse/sql.ts';
import { withValues } from '../../src/clickhouse/values.ts';

const APP = '6f439299-1c36-4c27-acf0-c6b5de995239';

test('each value stands in its place, with its type', () => {
  const statement = sql`SELECT {n:Int64}, {isOn:Bool} WHERE app_id = {app:UUID} AND id IN {ids:Array(String)} AND hour < toDateTime({at:DateTime64(3, 'UTC')})`;
  const values = {
    app: APP,
    n: -5,
    isOn: true,
    ids: ["it's", 'a\\b', 'c\0d', ''],
    at: '2026-01-01 00:00:00',
  };
  expect(withValues(statement, values)).toBe(
    `SELECT CAST(-5 AS Int64), CAST(true AS Bool) WHERE app_id = CAST('${APP}' AS UUID) AND id IN CAST(['it\\'s', 'a\\\\b', 'c\\0d', ''] AS Array(String)) AND hour < toDateTime(CAST('2026-01-01 00:00:00' AS DateTime64(3, 'UTC')))`,
  );
});

test('what looks like a place in a value or in a text of the statement is none', () => {
  const text = withValues(sql`SELECT {a:String}, ${quoted("{b:String} ' \\")}, {b:String}`, {
    a: '{b:String}',
    b: "' OR 1",
  });
  expect(text).toBe("SELECT CAST('{b:String}' AS String), '{b:String} \\' \\\\', CAST('\\' OR 1' AS String)");
});

test('a place without a value stays; a value without a literal is an error', () => {
  const statement = sql`SELECT {a:String}, {toString:String}`;
  expect(withValues(statement, { b: 'x' })).toBe(statement);
  expect(() => withValues(sql`SELECT {a:String}`, { a: {} })).toThrow('no literal');
});

test('names are checked', () => {
  expect(withValues(sql`SELECT 1 FROM {t:Identifier}`, { t: 'events' })).toBe('SELECT 1 FROM events');
  expect(() => withValues(sql`SELECT 1 FROM {t:Identifier}`, { t: 'a b' })).toThrow('not a name');
});
