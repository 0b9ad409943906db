import { html, inline, type Markup, prose } from './markup.ts';
import { EXAMPLE_APP, EXAMPLE_BODY, EXAMPLE_RANGE } from './openapi-examples.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, Media>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response & { readonly $ref?: string }>>;
}

/** The parts of the OpenAPI document that the page shows. */
export interface Documentation {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

/** A placeholder for the service's address, which the page's script fills in. */
const ORIGIN = 'http://127.0.0.1:3000';

/** Returns the whole page. It is complete without its script, which only copies commands. */
export function docsPage(documentation: Documentation): string {
  const { info, tags } = documentation;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title}</title>
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/copy.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Operations">
<p class="title"><a href="#content">API reference</a></p>
${tags.map(({ name }) => navigation(documentation, name))}
<p><a href="/docs/figures">What every number means</a></p>
<p><a href="/openapi.json">openapi.json</a></p>
</nav>
<main id="content">
<h1>${info.title}</h1>
${prose(info.description)}
<h2 id="first-call">The first call</h2>
<p>Send the account’s API key with every request. It belongs on a server, never into a browser or an app.</p>
${curl('-H "Authorization: Bearer $API_KEY"', '/api/v1/apps')}
${tags.map((tag) => section(documentation, tag))}
</main>
<p class="announce" role="status" aria-live="polite"></p>
</body>
</html>
`;
  return page.markup;
}

interface Placed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const operationsOf = ({ paths }: Documentation, tag: string): Placed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

const navigation = (documentation: Documentation, tag: string): Markup => html`<p class="group">${tag}</p>
<ul>${operationsOf(documentation, tag).map(
  ({ method, path, operation }) =>
    html`<li><a href="#${operation.operationId}"><span class="method">${method}</span> ${path.replace('/api/v1', '')}</a></li>`,
)}</ul>
`;

const section = (
  documentation: Documentation,
  { name, description }: Documentation['tags'][number],
): Markup => html`<section aria-labelledby="tag-${name}">
<h2 id="tag-${name}">${name}</h2>
<p>${description}</p>
${operationsOf(documentation, name).map((placed) => article(documentation, placed))}
</section>
`;

function article(documentation: Documentation, { method, path, operation }: Placed): Markup {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  return html`<article aria-labelledby="${operationId}">
<h3 id="${operationId}"><span class="method">${method}</span> <code>${path}</code></h3>
<p class="summary">${summary}</p>
${description === `${summary}.` ? [] : prose(description)}
${curlOf(method, path, parameters)}
${parameters.length === 0 ? [] : parameterTable(parameters)}
${requestBody === undefined ? [] : html`<h4>Body</h4>${fields(documentation, requestBody.content['application/json']?.schema ?? {})}`}
<h4>Answers</h4>
${Object.entries(responses).map(([status, response]) => answer(documentation, status, response))}
</article>
`;
}

function curlOf(method: string, path: string, parameters: readonly Parameter[]): Markup {
  const names = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name);
  const given = {
    ...(names.includes('appId') ? { appId: EXAMPLE_APP } : {}),
    ...(names.includes('from') ? EXAMPLE_RANGE : {}),
  };
  const search = Object.entries(given).map(([name, value]) => `${name}=${value}`);
  const body =
    method === 'POST' ? ` -H 'Content-Type: application/json' -d '${JSON.stringify(EXAMPLE_BODY)}'` : '';
  return curl(
    `-H "Authorization: Bearer $API_KEY"${body}`,
    `${path}${search.length === 0 ? '' : `?${search.join('&')}`}`,
  );
}

/** A command to copy. The button stays hidden without a script. */
const curl = (
  options: string,
  target: string,
): Markup => html`<div class="curl"><pre tabindex="0" aria-label="Command"><code>curl -s ${options} '<span data-origin>${ORIGIN}</span>${target}'</code></pre><button type="button" hidden>Copy</button></div>
`;

const parameterTable = (parameters: readonly Parameter[]): Markup => html`<h4>Parameters</h4>
<div class="wide parameters" tabindex="0" role="region" aria-label="Parameters"><table><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>
${parameters.map(
  ({
    name,
    in: place,
    required,
    description = '',
    schema,
  }) => html`<tr><th scope="row"><code>${name}</code>${place === 'header' ? html` <small>header</small>` : []}</th><td>${typeOf(schema)}${required ? html` <small>required</small>` : []}</td><td>${inline(description)}</td></tr>
`,
)}</tbody></table></div>
`;

function answer(
  { components }: Documentation,
  status: string,
  response: Response & { readonly $ref?: string },
): Markup {
  const name = response.$ref?.replace('#/components/responses/', '');
  const { description, content = {} } =
    name === undefined ? response : (components.responses[name] ?? response);
  const documentation = { components };
  return html`<details><summary><span class="status s${status.charAt(0)}">${status}</span> ${inline(description)}</summary>
${Object.entries(content).map(([type, media]) => html`<h5>${type}</h5>${status.startsWith('2') && type === 'application/json' ? fields(documentation, media.schema) : []}${examplesOf(media)}`)}
</details>
`;
}

const examplesOf = ({ example, examples = {} }: Media): Markup[] =>
  [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)].map(
    (value) =>
      html`<pre tabindex="0" aria-label="Example"><code>${typeof value === 'string' ? value : compact(value)}</code></pre>`,
  );

/** JSON with lists of numbers on one line. */
const compact = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(
    /\[\s+(-?[\d.]+(?:,\s+-?[\d.]+)*)\s+\]/g,
    (_, numbers: string) => `[${numbers.replace(/\s+/g, ' ')}]`,
  );

/** A table of an object's fields, one row per field, nested ones included. */
function fields(documentation: Pick<Documentation, 'components'>, schema: Schema): Markup {
  const rows = rowsOf(documentation, schema, '');
  return html`<div class="wide" tabindex="0" role="region" aria-label="Fields"><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>
${rows.map(
  ([
    name,
    type,
    description,
  ]) => html`<tr><th scope="row"><code>${breakable(name)}</code></th><td>${type}</td><td>${inline(description)}</td></tr>
`,
)}</tbody></table></div>
`;
}

/** Lets a field's path break after each dot. */
const breakable = (path: string): Markup[] =>
  path.split(/(?<=\.)/).map((part, i) => (i === 0 ? html`${part}` : html`<wbr>${part}`));

function rowsOf(
  documentation: Pick<Documentation, 'components'>,
  schema: Schema,
  prefix: string,
): [name: string, type: string, description: string][] {
  const { properties, items } = followed(documentation, schema);
  if (items !== undefined) return rowsOf(documentation, items, `${prefix}[]`);
  return Object.entries(properties ?? {}).flatMap(([name, property]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const { description = '', ...own } = followed(documentation, property);
    const row: [string, string, string] = [path, typeOf(own), property.description ?? description];
    const inner = own.properties !== undefined || own.items !== undefined;
    return [row, ...(inner ? rowsOf(documentation, own, path) : [])];
  });
}

const followed = ({ components }: Pick<Documentation, 'components'>, schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : (components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {});

function typeOf(schema: Schema): string {
  const { type, format, anyOf, enum: values, const: only } = schema;
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(', ');
  if (only !== undefined) return JSON.stringify(only);
  const names = (typeof type === 'string' ? [type] : (type ?? ['object'])).join(' or ');
  return format === undefined ? names : `${names} (${format})`;
}
