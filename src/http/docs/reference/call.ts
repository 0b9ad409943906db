import { html, type Markup } from '../markup.ts';
import {
  type Documentation,
  exampleOf,
  isByPage,
  type Media,
  needsKey,
  type Placed,
  responseOf,
} from './documentation.ts';
import { type Dialect, givenOf, LANGUAGES, snippetsOf } from './snippets.ts';

/** The call beside an operation: its commands, a form that really calls, and the answer's example. */
export function callPanel(documentation: Documentation, placed: Placed, dialect: Dialect): Markup {
  const { method, path, operation } = placed;
  return html`<div class="call" data-method="${method}" data-path="${path}"${needsKey(documentation, operation) ? html` data-key` : []}>
${isByPage(documentation, operation) ? [] : commands(documentation, placed, dialect)}
${tryForm(documentation, placed)}
${examplePanel(documentation, placed)}
</div>
`;
}

/** The call in each language, behind tabs. */
function commands(documentation: Documentation, placed: Placed, dialect: Dialect): Markup {
  const { operationId } = placed.operation;
  const snippets = snippetsOf(documentation, placed, dialect);
  return html`<div class="tabs" hidden><div role="tablist" aria-label="Language of the call ${operationId}">${LANGUAGES.map(
    (language, i) =>
      html`<button type="button" role="tab" id="${operationId}-${language}-tab" aria-controls="${operationId}-${language}" aria-selected="${i === 0 ? 'true' : 'false'}"${i === 0 ? [] : html` tabindex="-1"`} data-language="${language}">${language}</button>`,
  )}</div><button type="button" class="copy">Copy<span class="unseen"> the call ${operationId}</span></button></div>
${LANGUAGES.map(
  (language) =>
    html`<div class="snippet" id="${operationId}-${language}" data-language="${language}"><pre tabindex="0" role="region" aria-label="${operationId} in ${language}"><code>${snippets[language]}</code></pre></div>
`,
)}`;
}

function tryForm(documentation: Documentation, { method, operation }: Placed): Markup {
  const { operationId, parameters } = operation;
  const given = givenOf(parameters);
  const body = exampleOf(operation.requestBody?.content);
  const forms = Object.keys(successOf(documentation, operation)?.content ?? {}).filter(
    (type) => type !== 'text/event-stream',
  );
  const hasTag = method === 'GET' && needsKey(documentation, operation);
  return html`<details class="try" hidden><summary>Try it</summary>
<form aria-label="Try ${operationId}">
${given.map(
  ({ name, value, required }) =>
    html`<label for="${operationId}-try-${name}">${name}${required ? html` <small>required</small>` : []}</label><input id="${operationId}-try-${name}" name="${name}" value="${value}" autocomplete="off" spellcheck="false"${required ? html` required` : []}>
`,
)}${
  forms.length === 0
    ? []
    : html`<label for="${operationId}-try-accept">Accept <small>header</small></label><select id="${operationId}-try-accept" data-accept>${forms.map((type) => html`<option>${type}</option>`)}</select>
`
}${
  hasTag
    ? html`<label for="${operationId}-try-tag">If-None-Match <small>header</small></label><input id="${operationId}-try-tag" data-tag placeholder="The ETag of an answer" autocomplete="off" spellcheck="false">
`
    : []
}${
  body === undefined
    ? []
    : html`<label for="${operationId}-try-body">Body</label><textarea id="${operationId}-try-body" data-body rows="${Math.min(12, JSON.stringify(body, null, 2).split('\n').length)}" spellcheck="false">${JSON.stringify(body, null, 2)}</textarea>
`
}<button type="submit" class="main">Send${method === 'GET' ? [] : html` <small>(this really happens)</small>`}</button>
</form>
<div class="result" role="region" aria-label="Answer to ${operationId}" tabindex="-1" hidden></div>
</details>`;
}

type Content = Readonly<Record<string, Media>>;

const successOf = (documentation: Documentation, { responses }: Placed['operation']) => {
  const [status = ''] = Object.keys(responses);
  const response = responses[status];
  if (response === undefined) return null;
  const { content, 'x-forms': forms } = responseOf(documentation.components, response);
  const all: Content = { ...content, ...forms };
  return { status, content: all };
};

function examplePanel(documentation: Documentation, { operation }: Placed): Markup | readonly Markup[] {
  const success = successOf(documentation, operation);
  if (success === null) return [];
  const shown = Object.entries(success.content).filter(([, { example }]) => example !== undefined);
  const { operationId } = operation;
  return shown.map(([type, { example }], i) =>
    i === 0
      ? html`<p class="caption"><span class="status s2">${success.status}</span> ${type}</p>
${exampleText(example, `Example of the answer to ${operationId}`)}`
      : html`<details><summary>${type}</summary>${exampleText(example, `${type} of ${operationId}`)}</details>
`,
  );
}

const exampleText = (example: unknown, label: string): Markup =>
  html`<pre class="example" tabindex="0" role="region" aria-label="${label}"><code>${typeof example === 'string' ? example : compact(example)}</code></pre>
`;

/** JSON with lists of numbers on one line. */
const compact = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(
    /\[\s+(-?[\d.]+(?:,\s+-?[\d.]+)*)\s+\]/g,
    (_, numbers: string) => `[${numbers.replace(/\s+/g, ' ')}]`,
  );
