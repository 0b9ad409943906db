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
      `<pre tabindex="0" role="region" aria-label="Example ${next()}${lang === '' ? '' : ` in ${escaped(lang)}`}"><code>${escaped(code)}</code></pre>\n`,
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

function addressOf(href: string, pages: ReadonlyMap<string, string>): string | null {
  if (href.startsWith('#') || /^https?:/.test(href)) return href;
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
      if (last !== undefined) last.text += ` ${token.raw.replace(/[`*|#\s]+/g, ' ')}`;
    }
  }
  return passages;
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
