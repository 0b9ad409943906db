/**
 * Returns a document with null beside the type of each plain value (`type: ["string", "null"]`), where Zod writes `anyOf`.
 * Of `anyOf` some generators make a class `Null`.
 */
export function withNullInType<T>(document: T): T {
  return changed(document) as T;
}

function changed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(changed);
  if (typeof part !== 'object' || part === null) return part;
  const own = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, changed(value)]));
  const { anyOf, ...rest } = own;
  const value = valueOrNull(anyOf);
  return value === null ? own : { ...value, ...rest, type: [value.type, 'null'] };
}

interface Plain {
  readonly type: string;
}

/** The value of which null is the only alternative; null if there is no such value. */
function valueOrNull(anyOf: unknown): Plain | null {
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return null;
  const [value, none] = anyOf;
  return none.type === 'null' && isPlain(value) ? value : null;
}

/** A closed list would have to list null, too. */
const isPlain = (schema: Readonly<Record<string, unknown>>): boolean =>
  ['string', 'number', 'integer', 'boolean'].includes(String(schema['type'])) &&
  !Object.hasOwn(schema, 'enum') &&
  !Object.hasOwn(schema, 'const');
