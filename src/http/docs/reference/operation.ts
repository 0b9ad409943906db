import { ERROR_CODES, type ErrorCode } from '../../../domain/errors.ts';
import { PROBLEM_TYPE } from '../../request/problem.ts';
import { html, inline, type Markup, prose, slashed } from '../markup.ts';
import { callPanel } from './call.ts';
import { type Documentation, operationsOf, type Placed, responseOf } from './documentation.ts';
import { fieldTable, parameterTable } from './fields.ts';
import type { Dialect } from './snippets.ts';

/** An operation: its meaning and parameters on one side, the call and its answer on the other. */
export function operationArticle(documentation: Documentation, placed: Placed, dialect: Dialect): Markup {
  const { method, path, operation } = placed;
  const { operationId, summary, description = '', parameters = [], requestBody } = operation;
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  return html`<article aria-labelledby="${operationId}">
<div class="about">
<h3 id="${operationId}"><span class="method">${method}</span> <code>${slashed(path)}</code></h3>
<p class="summary">${inline(summary)}</p>
${description === '' || description === `${summary}.` ? [] : prose(description)}
${parameters.length === 0 ? [] : html`<h4>Parameters</h4>${parameterTable(parameters, operationId)}`}
${body === undefined ? [] : html`<h4>Body</h4>${fieldTable(documentation.components, body, `Fields of the body of ${operationId}`)}`}
<h4>Answers</h4>
${answers(documentation, placed)}
</div>
${movesFiles(placed) ? [] : callPanel(documentation, placed, dialect)}
</article>
`;
}

/** Such a call is none to try, or to paste: a command of the service makes it. */
const movesFiles = ({ operation: { requestBody, responses } }: Placed): boolean =>
  [requestBody, Object.values(responses)[0]].some(
    (each) => each?.content !== undefined && !('application/json' in each.content),
  );

function answers(documentation: Documentation, { operation }: Placed): Markup {
  const { operationId, responses } = operation;
  const { components } = documentation;
  const good = Object.entries(responses).filter(([status]) => status < '400');
  const shared = sharedErrors(documentation);
  const own = errorsOf(documentation, operation).filter((code) => !shared.includes(code));
  return html`${good.map(([status, response]) => {
    const { description, content } = responseOf(components, response);
    const schema = content?.['application/json']?.schema;
    const told = html`<span class="status s${status.charAt(0)}">${status}</span> ${inline(description)}`;
    return schema === undefined
      ? html`<p class="answer">${told}</p>
`
      : html`<details class="fields"><summary>${told}</summary>${fieldTable(components, schema, `Fields of the answer to ${operationId}`)}</details>
`;
  })}${own.map(
    (code) => html`<p class="answer">${errorLine(code)}</p>
`,
  )}${
    shared.length === 0
      ? []
      : html`<p class="answer">And <a href="#${sharedId(documentation)}">the errors of every call</a>.</p>
`
  }`;
}

const errorLine = (code: ErrorCode): Markup =>
  html`<span class="status s${String(ERROR_CODES[code].status).charAt(0)}">${ERROR_CODES[code].status}</span> <a href="/docs/errors#${code}"><code>${code}</code></a>`;

/** The codes that the examples of an operation's errors show. */
function errorsOf({ components }: Documentation, { responses }: Placed['operation']): ErrorCode[] {
  return Object.values(responses).flatMap((response) =>
    Object.keys(responseOf(components, response).content?.[PROBLEM_TYPE]?.examples ?? {}),
  ) as ErrorCode[];
}

/** The codes that every operation of the document can answer. A document with one operation shares none. */
export function sharedErrors(documentation: Documentation): ErrorCode[] {
  const [first, ...others] = operationsOf(documentation).map(({ operation }) =>
    errorsOf(documentation, operation),
  );
  if (first === undefined || others.length === 0) return [];
  return first.filter((code) => others.every((codes) => codes.includes(code)));
}

const sharedId = ({ info: { title } }: Documentation): string =>
  `errors-${title.toLowerCase().replace(/[^a-z]+/g, '-')}`;

/** The errors of every call of a document, said once and folded. */
export function sharedErrorsPart(documentation: Documentation): Markup | readonly Markup[] {
  const shared = sharedErrors(documentation);
  if (shared.length === 0) return [];
  return html`<details class="shared" id="${sharedId(documentation)}"><summary>The errors of every call</summary>
<ul>${shared.map(
    (code) => html`<li>${errorLine(code)}</li>
`,
  )}</ul>
</details>
`;
}
