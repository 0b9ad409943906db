import { z } from 'zod';
import { figures } from '../../answers/fields.ts';
import { FIGURES, UNITS, type Unit } from '../../answers/figures.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { ENDPOINTS } from '../../endpoints/index.ts';
import { html, type Markup } from './markup.ts';
import type { Findable } from './search-index.ts';

/** A number of an answer. */
export interface FigureRow {
  /** Its place, for example `current.sessions`; of lists, in one of the rows. */
  readonly field: string;
  /** Its meaning; null for a number that is no figure, such as a latitude. */
  readonly meaning: string | null;
  readonly unit: string;
}

/** The numbers of each endpoint's answer, in the order of the answer. */
export function figureRows({ response }: Pick<Endpoint, 'response'>): FigureRow[] {
  return numbersIn(response, '');
}

function numbersIn(schema: z.core.$ZodType, field: string): FigureRow[] {
  if (schema instanceof z.ZodNullable) return numbersIn(schema.unwrap(), field);
  if (schema instanceof z.ZodArray) return numbersIn(schema.element, field);
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([name, of]) =>
      numbersIn(of as z.core.$ZodType, field === '' ? name : `${field}.${name}`),
    );
  }
  if (!(schema instanceof z.ZodNumber)) return [];
  const declared = figures.get(schema);
  if (declared === undefined) return [{ field, meaning: null, unit: '' }];
  const meaning = meaningAt(field, FIGURES[declared.figure].meaning);
  return [{ field, meaning, unit: unitOf(declared.unit) }];
}

const BEFORE = 'the period before';

/** Says a figure's meaning for a place of an answer: the period before, or the change against it, has its own words. */
function meaningAt(field: string, meaning: string): string {
  if (field.startsWith('previous.')) {
    return meaning.includes('the range')
      ? meaning.replace('the range', BEFORE)
      : meaning.replace(/^[^:.]+/, `$&, in ${BEFORE}`);
  }
  if (!field.startsWith('change')) return meaning;
  const [whole = ''] = meaning.split(/[:.]/, 1);
  const noun = `${whole.charAt(0).toLowerCase()}${whole.slice(1)}`;
  return `Change of ${noun.startsWith('the ') ? noun : `the number of ${noun}`}, against ${BEFORE}.`;
}

function unitOf(unit: Unit): string {
  const { name, decimals } = UNITS[unit];
  return decimals === 0 ? name : `${name}, ${decimals} decimals`;
}

const INTRODUCTION = `What every number of every answer means. A **session** is one visit; it counts where it started. A **page view**,
a **click** or an **error** counts where it happened. Every figure is exact for the range, to the millisecond.`;

const withFigures = (): { readonly endpoint: Endpoint; readonly rows: FigureRow[] }[] =>
  ENDPOINTS.map((endpoint) => ({
    endpoint,
    rows: figureRows(endpoint).filter(({ meaning }) => meaning !== null),
  })).filter(({ rows }) => rows.length > 0);

/** The text of docs/figures.md. */
export const figuresText = (): string => `# Figures

${INTRODUCTION}

This page is made from the code by \`npm run openapi\`.
${withFigures()
  .map(
    ({ endpoint, rows }) => `
## ${endpoint.summary}

\`GET ${endpoint.path}\`

| Number | Meaning | Unit |
| --- | --- | --- |
${rows.map(({ field, meaning, unit }) => `| \`${field}\` | ${meaning} | ${unit} |`).join('\n')}
`,
  )
  .join('')}`;

/** The same as the content of a page. */
export const figuresMarkup = (): Markup => html`<h1>What every number means</h1>
<p>${INTRODUCTION.replaceAll('**', '').replaceAll('\n', ' ')}</p>
${withFigures().map(({ endpoint, rows }) => section(endpoint, rows))}`;

/** Each figure, for the search. */
export const figuresFindable = (): Findable[] =>
  withFigures().flatMap(({ endpoint: { operationId, summary }, rows }) =>
    rows.map(({ field, meaning }) => ({
      title: field,
      href: `/docs/figures#${operationId}`,
      kind: 'Figure',
      text: `${meaning ?? ''} ${summary}`,
    })),
  );

const section = (
  { operationId, summary, path }: Endpoint,
  rows: readonly FigureRow[],
): Markup => html`<section aria-labelledby="${operationId}">
<h2 id="${operationId}">${summary}</h2>
<p><a href="/docs#${operationId}"><code class="path">GET ${path}</code></a></p>
<table class="figures"><thead><tr><th scope="col">Number</th><th scope="col">Meaning</th><th scope="col">Unit</th></tr></thead>
<tbody>${rows.map(
  ({ field, meaning, unit }) =>
    html`<tr><td><code>${field}</code></td><td>${meaning ?? ''}</td><td>${unit}</td></tr>
`,
)}</tbody></table>
</section>
`;
