/** Finished markup. Every other value is text and gets escaped. */
export interface Markup {
  readonly markup: string;
}

type Part = string | number | Markup | readonly Markup[];

/** Builds markup; texts among `parts` are escaped. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: String.raw({ raw: strings }, ...parts.map(written)) };
}

function written(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part));
  return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Replaces the characters that mean something in HTML. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** Converts the few marks that descriptions use: paragraphs, `code`, **strong**, and `/docs/…`, which becomes a link. */
export const prose = (text: string): Markup[] =>
  text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>`);

export function inline(text: string): Markup {
  const marked = escaped(text)
    .replace(/`(\/docs\/[\w/]+)`/g, '<a href="$1">$1</a>')
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
  return { markup: marked };
}

/** Lets a path break before each slash. */
export const slashed = (path: string): Markup[] =>
  path.split(/(?=\/)/).map((part, i) => (i === 0 ? html`${part}` : html`<wbr>${part}`));
