import { html, type Markup } from '../markup.ts';
import { EXAMPLE_APP, EXAMPLE_RANGE } from '../openapi-examples.ts';
import { type Documentation, exampleOf, needsKey, type Parameter, type Placed } from './documentation.ts';

/** A placeholder for the service's address, which the page's script fills in. */
export const ORIGIN = 'http://127.0.0.1:3000';

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
export type Snippets = Readonly<Record<(typeof LANGUAGES)[number], Markup>>;

/** How the commands of one document are written. */
export interface Dialect {
  /** The variable with the key. */
  readonly variable: string;
  /** True if the typed client has the document's operations. */
  readonly hasClient: boolean;
}

/** A parameter in the query or the path, with the value of the example; '' for none. */
export interface Given {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly value: string;
  readonly required: boolean;
  readonly isNumber: boolean;
}

/** The parameters that a person can change. */
export const givenOf = (parameters: readonly Parameter[] = []): Given[] =>
  parameters.flatMap(({ name, in: place, required = false, schema, example }) =>
    place === 'query' || place === 'path'
      ? [
          {
            name,
            in: place,
            value: VALUES[name] ?? (place === 'path' ? String(example ?? schema.example ?? EXAMPLE_APP) : ''),
            required,
            isNumber: schema.type === 'integer',
          },
        ]
      : [],
  );

const VALUES: Readonly<Record<string, string>> = {
  appId: EXAMPLE_APP,
  email: 'ada@example.com',
  interval: 'day',
  timezone: 'Asia/Tehran',
  by: 'country',
  type: 'custom',
  ...EXAMPLE_RANGE,
};

interface Call {
  readonly method: string;
  readonly target: Markup;
  readonly given: readonly Given[];
  readonly body: unknown;
  readonly hasKey: boolean;
  readonly operationId: string;
  readonly dialect: Dialect;
}

/** The call of an operation in each language. Each text runs as it is, with the key in the environment. */
export function snippetsOf(
  documentation: Documentation,
  { method, path, operation }: Placed,
  dialect: Dialect,
): Snippets {
  const given = givenOf(operation.parameters);
  const call: Call = {
    method,
    target: targetOf(path, given),
    given: given.filter((each) => each.in === 'query'),
    body: exampleOf(operation.requestBody?.content),
    hasKey: needsKey(documentation, operation),
    operationId: operation.operationId,
    dialect,
  };
  return {
    curl: curl(call),
    TypeScript: dialect.hasClient ? withClient(call) : withFetch(call),
    Python: python(call),
  };
}

/** How a value is written in its place. The page's script does the same when a person changes the value. */
const QUOTES = {
  url: (value: string): string => encodeURIComponent(value).replaceAll('%3A', ':').replaceAll("'", '%27'),
  text: (value: string): string => JSON.stringify(value),
  number: (value: string): string => (/^\d+$/.test(value) ? value : JSON.stringify(value)),
};

/** The place of a parameter in a text. It is empty while the parameter has no value. */
function place(
  { name, value }: Given,
  quote: keyof typeof QUOTES,
  { before = '', after = '' }: { readonly before?: string; readonly after?: string },
): Markup {
  const text = value === '' ? '' : `${before}${QUOTES[quote](value)}${after}`;
  return html`<span data-param="${name}" data-quote="${quote}" data-before="${before}" data-after="${after}">${text}</span>`;
}

const origin = html`<span data-origin>${ORIGIN}</span>`;

function pathOf(path: string, given: readonly Given[]): Markup[] {
  return path.split(/(\{\w+\})/).map((part) => {
    const found = given.find(({ name }) => part === `{${name}}`);
    return found === undefined ? html`${part}` : place(found, 'url', {});
  });
}

function targetOf(path: string, given: readonly Given[]): Markup {
  const query = given.filter((each) => each.in === 'query');
  return html`${origin}${pathOf(path, given)}${query.map((each, i) => place(each, 'url', { before: `${i === 0 ? '?' : '&'}${each.name}=` }))}`;
}

const JSON_HEADER = 'Content-Type: application/json';

function curl({ method, target, body, hasKey, dialect }: Call): Markup {
  const isPlain = method === 'GET' || (method === 'POST' && body !== undefined);
  const options = [
    ...(isPlain ? [] : [html`-X ${method}`]),
    ...(hasKey ? [html`-H "Authorization: Bearer $${dialect.variable}"`] : []),
    ...(body === undefined
      ? []
      : [html`-H '${JSON_HEADER}'`, html`-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ];
  return html`curl -s '${target}'${options.map(
    (option) => html` \\
  ${option}`,
  )}`;
}

function withClient({ operationId, given, body, dialect }: Call): Markup {
  const args =
    body === undefined
      ? given.length === 0
        ? html``
        : html`{
${given.map((each) => place(each, each.isNumber ? 'number' : 'text', { before: `  ${each.name}: `, after: ',\n' }))}}`
      : html`${JSON.stringify(body, null, 2)}`;
  return html`import { createClient } from 'session-analytics-client';

const client = createClient({ baseUrl: '${origin}', apiKey: process.env.${dialect.variable} ?? '' });
const { data } = await client.${operationId}(${args});
console.log(JSON.stringify(data, null, 2));`;
}

function withFetch({ method, target, body, hasKey, dialect }: Call): Markup {
  const headers = [
    ...(hasKey
      ? [
          html`    Authorization: \`Bearer \${process.env.${dialect.variable}}\`,
`,
        ]
      : []),
    ...(body === undefined
      ? []
      : [
          html`    'Content-Type': 'application/json',
`,
        ]),
  ];
  const options = [
    ...(method === 'GET'
      ? []
      : [
          html`  method: '${method}',
`,
        ]),
    ...(headers.length === 0
      ? []
      : [
          html`  headers: {
${headers}  },
`,
        ]),
    ...(body === undefined
      ? []
      : [
          html`  body: JSON.stringify(${JSON.stringify(body)}),
`,
        ]),
  ];
  return html`const response = await fetch('${target}'${
    options.length === 0
      ? []
      : html`, {
${options}}`
  });
if (!response.ok) throw new Error(await response.text());
console.log(JSON.stringify(await response.json(), null, 2));`;
}

function python({ method, target, body, hasKey, dialect }: Call): Markup {
  const headers = [
    ...(hasKey ? [html`"Authorization": "Bearer " + os.environ["${dialect.variable}"]`] : []),
    ...(body === undefined ? [] : [html`"Content-Type": "application/json"`]),
  ];
  return html`import json
import os
import urllib.request

request = urllib.request.Request(
    "${target}",
${
  method === 'GET'
    ? []
    : html`    method="${method}",
`
}${
  headers.length === 0
    ? []
    : html`    headers={${headers.map((header, i) => (i === 0 ? header : html`, ${header}`))}},
`
}${
  body === undefined
    ? []
    : html`    data=json.dumps(${pythonText(body)}).encode(),
`
})
with urllib.request.urlopen(request) as response:
    print(json.dumps(json.load(response), indent=2))`;
}

/** A value of JSON as Python writes it. */
export function pythonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value as object).map(
    ([name, each]) => `${JSON.stringify(name)}: ${pythonText(each)}`,
  );
  return `{${fields.join(', ')}}`;
}
