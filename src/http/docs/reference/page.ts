import { html, inline, type Markup, prose } from '../markup.ts';
import { type Documentation, operationsOf } from './documentation.ts';
import { operationArticle, sharedErrorsPart } from './operation.ts';
import type { Dialect } from './snippets.ts';

/** A document on a page of the reference. */
export interface Chapter {
  /** Where the document itself is served. */
  readonly address: string;
  readonly document: Documentation;
  readonly dialect: Dialect;
}

/** The content of a page with all operations of some documents. */
export const referenceContent = (title: string, chapters: readonly Chapter[]): Markup =>
  html`<h1>${title}</h1>
${chapters.map(chapterPart)}`;

function chapterPart({ address, document, dialect }: Chapter, index: number): Markup {
  const { info, tags, components } = document;
  const { headers = {} } = components;
  return html`<section class="chapter">
${index === 0 ? [] : html`<p class="part">${info.title}</p>`}
<div class="intro">${prose(info.description)}
<p>For machines: <a href="${address}">${address}</a> (OpenAPI 3.1).</p>
${sharedErrorsPart(document)}
${
  Object.keys(headers).length === 0
    ? []
    : html`<details class="shared"><summary>The headers of the answers</summary><dl>${Object.entries(
        headers,
      ).map(
        ([name, { description }]) => html`<dt><code>${name}</code></dt><dd>${inline(description)}</dd>
`,
      )}</dl></details>`
}
</div>
${tags.map(
  ({ name, description }) => html`<section aria-labelledby="${tagId(name)}">
<h2 id="${tagId(name)}">${name}</h2>
<p>${inline(description)}</p>
${operationsOf(document)
  .filter(({ operation }) => operation.tags.includes(name))
  .map((placed) => operationArticle(document, placed, dialect))}
</section>
`,
)}
</section>
`;
}

const tagId = (name: string): string => `tag-${name.replaceAll(' ', '-')}`;
