import { identifier, join, quoted, type Sql, sql } from './sql.ts';

/** Settings of one statement, by name. */
export type Settings = Readonly<Record<string, string | number>>;

/** Formats settings as text of the statement. On the embedded engine a SET would outlast the statement. */
export function settingsText(values: Settings): Sql {
  return join(
    Object.entries(values).map(
      ([name, value]) => sql`${identifier(name)} = ${typeof value === 'number' ? value : quoted(value)}`,
    ),
  );
}
