import { html, inline, type Markup } from '../markup.ts';
import { type Components, followed, type Parameter, type Schema } from './documentation.ts';

export const parameterTable = (
  parameters: readonly Parameter[],
  of: string,
): Markup => html`<div class="wide parameters" tabindex="0" role="region" aria-label="Parameters of ${of}"><table><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>
${parameters.map(
  ({
    name,
    in: place,
    required,
    description = '',
    schema,
  }) => html`<tr><th scope="row"><code>${name}</code>${place === 'query' ? [] : html` <small>${place}</small>`}</th><td>${typeText(schema)}${required ? html` <small>required</small>` : []}</td><td>${inline(description)}</td></tr>
`,
)}</tbody></table></div>
`;

/** A table of an object's fields, one row per field, nested ones included. Nothing for a schema without fields. */
export function fieldTable(
  components: Components,
  schema: Schema,
  label: string,
): Markup | readonly Markup[] {
  const rows = rowsOf(components, schema, '');
  if (rows.length === 0) return [];
  return html`<div class="wide" tabindex="0" role="region" aria-label="${label}"><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>
${rows.map(
  ({ name, type, description }) =>
    html`<tr><th scope="row"><code>${breakable(name)}</code></th><td>${type}</td><td>${inline(description)}</td></tr>
`,
)}</tbody></table></div>
`;
}

interface Row {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

export function rowsOf(components: Components, schema: Schema, prefix: string): Row[] {
  const { properties, items, anyOf } = followed(components, schema);
  if (items !== undefined) return rowsOf(components, items, `${prefix}[]`);
  if (anyOf !== undefined) return unique(anyOf.flatMap((each) => rowsOf(components, each, prefix)));
  return Object.entries(properties ?? {}).flatMap(([name, property]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const { description = '', ...own } = followed(components, property);
    const row = { name: path, type: typeText(own), description: property.description ?? description };
    const inner = own.properties !== undefined || own.items !== undefined || own.anyOf !== undefined;
    return [row, ...(inner ? rowsOf(components, own, path) : [])];
  });
}

/** Alternatives share fields; each is told once. */
const unique = (rows: readonly Row[]): Row[] =>
  rows.filter(({ name }, i) => rows.findIndex((row) => row.name === name) === i);

/** Lets a field's path break after each dot. */
const breakable = (path: string): Markup[] =>
  path.split(/(?<=\.)/).map((part, i) => (i === 0 ? html`${part}` : html`<wbr>${part}`));

function typeText({ type, format, anyOf, enum: values, const: only }: Schema): string {
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeText))].join(' or ');
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(', ');
  if (only !== undefined) return JSON.stringify(only);
  const names = (typeof type === 'string' ? [type] : (type ?? ['object'])).join(' or ');
  return format === undefined ? names : `${names} (${format})`;
}
