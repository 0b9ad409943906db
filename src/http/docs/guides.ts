import { readFileSync } from 'node:fs';
import { Marked, Renderer, type RendererObject, type Token, type Tokens } from 'marked';
import { escaped } from './markup.ts';

/** A guide in Markdown. */
export interface Guide {
  /** Of its page: `/docs/NAME`. */
  readonly name: string;
  readonly title: string;
  readonly text: () => string;
}

const isCompiled = import.meta.url.endsWith('.js');
/** The project's own docs/, of which the build brings the guides along. */
const FOLDER = new URL(isCompiled ? './guides/' : '../../../docs/', import.meta.url);

export const guideOf = (name: string, title: string): Guide => ({
  name,
  title,
  text: () => readFileSync(new URL(`${name}.md`, FOLDER), 'utf8'),
});

/** Makes the id of a heading, as GitHub does. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/**
 * Turns a guide into markup. `pages` are the addresses that links may lead to, by the name of the file in docs/; a link
 * to another file is only text, because this service does not serve that file.
 */
export function guideMarkup(text: string, pages: ReadonlyMap<string, string>): { readonly markup: string } {
  let regions = 0;
  const next = (): number => {
    regions += 1;
    return regions;
  };
  const renderer: RendererObject = {
    heading({ tokens, depth }) {
      const inner = this.parser.parseInline(tokens);
      return `<h${depth} id="${slugOf(plainText(tokens))}">${inner}</h${depth}>\n`;
    },
    code: ({ text: code, lang = '' }) =>
      sampleMarkup(code, `Example ${next()}${lang === '' ? '' : ` in ${escaped(lang)}`}`),
    table(token) {
      const table = Renderer.prototype.table.call(this, token);
      return `<div class="wide" tabindex="0" role="region" aria-label="Table ${next()}">${table}</div>\n`;
    },
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      const address = addressOf(href, pages);
      return address === null ? inner : `<a href="${escaped(address)}">${inner}</a>`;
    },
    // The guides have none. If one had, it would be shown as text.
    html: ({ text: raw }) => escaped(raw),
  };
  return { markup: new Marked({ gfm: true, renderer }).parse(text, { async: false }) };
}

/** A text to copy. The page's script shows the button. */
const sampleMarkup = (code: string, label: string): string =>
  `<div class="sample"><pre tabindex="0" role="region" aria-label="${label}"><code>${escaped(code)}</code></pre><button type="button" class="copy" hidden>Copy<span class="unseen"> ${label}</span></button></div>\n`;

function addressOf(href: string, pages: ReadonlyMap<string, string>): string | null {
  if (href.startsWith('#') || /^https?:/.test(href) || href === '/dashboard') return href;
  const [file = '', fragment] = href.split('#');
  const page = pages.get(file);
  if (page === undefined) return null;
  return fragment === undefined ? page : `${page}#${fragment}`;
}

/** A heading of a guide, with the text below it up to the next one. */
export interface Passage {
  readonly title: string;
  readonly id: string;
  readonly text: string;
}

/** Cuts a guide at its headings. */
export function passagesOf(text: string): Passage[] {
  const passages: { title: string; id: string; text: string }[] = [];
  for (const token of new Marked().lexer(text)) {
    if (token.type === 'heading') {
      const title = plainText(token.tokens ?? []);
      passages.push({ title, id: slugOf(title), text: '' });
    } else {
      const last = passages.at(-1);
      if (last !== undefined) last.text += ` ${wordsOf(token)}`;
    }
  }
  return passages;
}

/** The words of a block, without the marks of Markdown: those of a table cell by cell, of a list item by item. */
function wordsOf(token: Token): string {
  if (token.type === 'space') return '';
  if (token.type === 'list')
    return (token as Tokens.List).items.flatMap(({ tokens }) => tokens.map(wordsOf)).join(' ');
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].flatMap((cells) => cells.map(({ tokens }) => plainText(tokens))).join(' ');
  }
  const { tokens } = token as Tokens.Paragraph;
  return (tokens === undefined ? textOf(token) : plainText(tokens)).replace(/\s+/g, ' ');
}

/** The words of some tokens, without their marks. */
const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map((token) =>
      (token as Tokens.Strong).tokens === undefined
        ? textOf(token)
        : plainText((token as Tokens.Strong).tokens),
    )
    .join('');

const textOf = (token: Token): string => ('text' in token ? String(token.text) : token.raw);
