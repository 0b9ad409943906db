/**
 * Reads the `param_*` values of a request. On the wire a value is text in the form of its declared type: escaped like
 * TSV, arrays as literals (`['a','b']`).
 */
export function readParams(sql: string, search: URLSearchParams): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, text] of search) {
    if (!key.startsWith('param_')) continue;
    const name = key.slice('param_'.length);
    values[name] = isArray(sql, name) ? parseArray(text) : unescapeText(text);
  }
  return values;
}

const isArray = (sql: string, name: string): boolean =>
  [...sql.matchAll(/\{\s*(\w+)\s*:\s*([A-Za-z]\w*)/g)].some(
    ([, place, type]) => place === name && type === 'Array',
  );

/** A quoted string, or a bare number or keyword. */
const ELEMENT = /'((?:[^'\\]|\\.)*)'|([^,'[\]\s]+)/gs;

function parseArray(text: string): unknown[] {
  if (!text.startsWith('[') || !text.endsWith(']')) throw new Error(`not an array: ${text}`);
  return [...text.slice(1, -1).matchAll(ELEMENT)].map(([, quoted, bare]) => {
    if (quoted !== undefined) return unescapeText(quoted);
    return Number(bare);
  });
}

const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const unescapeText = (text: string): string =>
  text.replace(/\\(.)/gs, (_, escaped: string) => ESCAPES[escaped] ?? escaped);
