import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { Query } from '../../src/clickhouse/database.ts';
import { identifier, join, quoted, type Sql, sql, unchecked } from '../../src/clickhouse/sql.ts';

/** What a caller could send. */
const TEXT: string = "x'; DROP TABLE events; --";

test('the text is that of a plain template, with its escapes', () => {
  const column = sql`path`;
  expect(sql`SELECT ${column}, '\\0'\nFROM events LIMIT ${10} -- ${-1.5} ${sql``}`).toBe(
    `SELECT ${column}, '\\0'\nFROM events LIMIT ${10} -- ${-1.5} `,
  );
  expect(sql`${1}${2}`).toBe('12');
  expect(sql``).toBe('');
});

test('parts are joined to a list, or with another separator', () => {
  expect(join([sql`a`, sql`b`])).toBe('a, b');
  expect(join([sql`a`, sql`b`], sql` OR `)).toBe('a OR b');
  expect(join([])).toBe('');
});

test('a text becomes a literal with the same value', () => {
  expect(quoted('page')).toBe("'page'");
  expect(quoted(TEXT)).toBe("'x\\'; DROP TABLE events; --'");
  expect(quoted("\\'")).toBe("'\\\\\\''");
});

test('a name needs no quotes', () => {
  expect(identifier('page_facts')).toBe('page_facts');
  for (const name of ['', '1a', 'a.b', 'a b', 'a`', 'a\n', TEXT]) {
    expect(() => identifier(name), name).toThrow('not a name');
  }
});

test('the compiler refuses any other text', () => {
  expectTypeOf<string>().not.toExtend<Sql>();
  expectTypeOf<'events'>().not.toExtend<Sql>();
  expectTypeOf<Sql>().toExtend<string>();
  // @ts-expect-error: a text is no piece of a statement.
  expect(sql`SELECT ${TEXT}`).toContain(TEXT);
  // @ts-expect-error: nor is a list of texts.
  expect(join([TEXT])).toBe(TEXT);
  const query: Query<unknown> = {
    name: 'wrong',
    // @ts-expect-error: nor is it a statement.
    sql: `SELECT ${TEXT}`,
    row: z.unknown(),
  };
  expect(query.sql).toBe(unchecked(`SELECT ${TEXT}`));
});
