import { identifier, join, quoted, type Sql, sql, unchecked } from './sql.ts';

/*
 * Puts the values of typed places, `{name:Type}`, into the text of a statement. The package of the embedded engine runs
 * all statements with bound values one after the other, in the whole process: a look-up would wait for a sealing
 * statement of seconds. Statements without bound values run side by side.
 */

/** The engine's limit of a statement's text, for which its own default is too small. */
export const MOST_TEXT_BYTES = 64 * 1024 ** 2;

/** Texts in quotes are skipped: braces in them name no place. */
const PLACE = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\{(\w+):([^{}]+)\}/gs;

/** Returns the statement with the values in it. A place without a value stays, for which the engine has an error. */
export function withValues(statement: Sql, params: Readonly<Record<string, unknown>>): Sql {
  if (Object.keys(params).length === 0) return statement;
  const text = statement.replace(PLACE, (found: string, name?: string, type?: string) => {
    if (name === undefined || type === undefined) return found;
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined) return found;
    return type === 'Identifier' ? identifier(String(value)) : `CAST(${literal(value)} AS ${type})`;
  });
  // The rest is text of a statement as before, and each value is a checked literal.
  return unchecked(text);
}

function literal(value: unknown): Sql {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return sql`${value}`;
  if (typeof value === 'boolean') return value ? sql`true` : sql`false`;
  if (Array.isArray(value)) return sql`[${join(value.map(literal))}]`;
  throw new Error(`no literal for a value of type ${typeof value}`);
}
