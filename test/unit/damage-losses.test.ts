import { expect, test } from 'vitest';
import { readMigrations } from '../../src/clickhouse/migrate.ts';
import { FACTS, FACTS_STATE } from '../../src/clickhouse/tables.ts';
import { LOSSES, lossOf, NOTES, ROLL_UPS, remedyOf } from '../../src/damage/losses.ts';

const GROUPS: readonly string[] = [...ROLL_UPS, ...FACTS, ...FACTS_STATE, ...NOTES, ...Object.keys(LOSSES)];

/** The tables of the migrations, with their engines. */
const TABLES = readMigrations()
  .flatMap(({ statements }) => statements)
  .flatMap((statement) => {
    const [, name] = /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(statement) ?? [];
    return name === undefined ? [] : [{ name, engine: /^ENGINE = (\w+)/m.exec(statement)?.[1] }];
  });

test('each table with parts is in exactly one group, and a table without parts in none', () => {
  // The migrations' own table is made before the first of them.
  const withParts = ['schema_migrations', ...TABLES.flatMap((t) => (t.engine === 'Null' ? [] : [t.name]))];
  expect(TABLES.filter(({ engine }) => engine === undefined)).toEqual([]);
  expect(GROUPS.toSorted()).toEqual(withParts.sort());
});

test('each table without a remedy says what is lost', () => {
  for (const table of GROUPS) {
    const isAccepted = Object.keys(LOSSES).includes(table);
    expect(remedyOf(table) === 'accept', table).toBe(isAccepted);
    if (isAccepted) expect(lossOf(table), table).toBe(LOSSES[table]);
  }
  expect(remedyOf('unknown')).toBe('accept');
});
