declare const brand: unique symbol;

/**
 * Text of a statement. Only this file makes it: from text in the source code, numbers, and text that is escaped or
 * checked here. So the compiler refuses a caller's text in a statement. Its place is a typed `{name:Type}` parameter.
 */
export type Sql = string & { readonly [brand]: true };

/** Returns the text with its pieces, byte for byte. */
export function sql(texts: TemplateStringsArray, ...pieces: readonly (Sql | number)[]): Sql {
  let whole = texts[0] as string;
  let next = 1;
  for (const piece of pieces) whole += `${piece}${texts[next++]}`;
  return whole as Sql;
}

const COMMA = sql`, `;
/** Joins the parts, by default to a list. */
export const join = (parts: readonly Sql[], separator: Sql = COMMA): Sql => parts.join(separator) as Sql;

/** A string literal with this value. */
export const quoted = (value: string): Sql =>
  `'${value.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'` as Sql;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The name of a table, column, database or setting. Throws if it would need quotes. */
export function identifier(name: string): Sql {
  if (!NAME.test(name)) throw new Error(`not a name: ${name}`);
  return name as Sql;
}

/** Lets text into a statement as it is. Each use says why the text is nobody's input. */
export const unchecked = (text: string): Sql => text as Sql;
