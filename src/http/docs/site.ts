import { readFileSync } from 'node:fs';
import { digest } from '../answer/etag.ts';
import type { Page } from '../answer/reply.ts';
import { type Guide, guideMarkup } from './guides.ts';
import { type Credential, type Entry, type Group, pageText, type Site } from './layout.ts';
import { html, type Markup, slashed } from './markup.ts';
import { operationsOf } from './reference/documentation.ts';
import { type Chapter, referenceContent } from './reference/page.ts';
import { type Findable, findOperations, findPassages } from './search-index.ts';

/** A page of the reference with the operations of some documents. */
export interface Reference {
  readonly path: string;
  readonly title: string;
  readonly chapters: readonly Chapter[];
  /** Null if none of its calls needs one. */
  readonly credential: Credential | null;
}

/** A page that is neither a reference nor a guide. */
export interface OtherPage {
  readonly path: string;
  readonly title: string;
  readonly content: () => Markup;
  readonly findable: () => readonly Findable[];
}

/** Everything that one listener serves below /docs, and its OpenAPI documents. */
export interface Library {
  readonly title: string;
  /** Addresses that visitors try first. They redirect to /docs. */
  readonly doors: readonly string[];
  /** True if the listener serves the console, too. */
  readonly hasConsole: boolean;
  /** The first one is at /docs. */
  readonly references: readonly Reference[];
  readonly guides: readonly Guide[];
  readonly others: readonly OtherPage[];
}

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const SCRIPTS = ['page.js', 'call.js', 'key.js', 'menu.js', 'search.js', 'tabs.js', 'tell.js'];

const page = (contentType: string, content: string): Page => {
  const body = Buffer.from(content);
  return { contentType, body, tag: digest(body) };
};
const asset = (contentType: string, file: string): Page =>
  page(`${contentType}; charset=utf-8`, readFileSync(new URL(`./assets/${file}`, import.meta.url), 'utf8'));

/** An OpenAPI document as it is served, and written to docs/. */
export const documentText = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;

/** Makers of all pages by path; each runs at the first request for its page. */
export function pagesOf(library: Library): ReadonlyMap<string, () => Page> {
  const { references, guides, others } = library;
  const site = siteOf(library);
  const files = new Map([
    ...guides.map(({ name }): [string, string] => [`${name}.md`, `/docs/${name}`]),
    ...others.map(({ path }): [string, string] => [path.replace('/docs/', '').concat('.md'), path]),
    ...documentsOf(library).map(({ address }): [string, string] => [address.slice(1), address]),
  ]);
  return new Map<string, () => Page>([
    ...references.map(({ path, title, chapters, credential }): [string, () => Page] => [
      path,
      () =>
        page(HTML, pageText(site, { path, title, credential, content: referenceContent(title, chapters) })),
    ]),
    ...guides.map(({ name, title, text }): [string, () => Page] => [
      `/docs/${name}`,
      () => {
        const content = guide(text(), files);
        return page(HTML, pageText(site, { path: `/docs/${name}`, title, credential: null, content }));
      },
    ]),
    ...others.map(({ path, title, content }): [string, () => Page] => [
      path,
      () => page(HTML, pageText(site, { path, title, credential: null, content: content() })),
    ]),
    ...documentsOf(library).map(({ address, document }): [string, () => Page] => [
      address,
      () => page(JSON_TYPE, documentText(document)),
    ]),
    ['/docs/search.json', () => page(JSON_TYPE, JSON.stringify(findableOf(library)))],
    ['/docs/style.css', () => asset('text/css', 'style.css')],
    ...SCRIPTS.map((file): [string, () => Page] => [`/docs/${file}`, () => asset('text/javascript', file)]),
  ]);
}

const guide = (text: string, files: ReadonlyMap<string, string>): Markup =>
  html`<div class="guide">${guideMarkup(text, files)}</div>`;

const documentsOf = ({ references }: Library): Chapter[] => references.flatMap(({ chapters }) => chapters);

const findableOf = ({ references, guides, others }: Library): Findable[] => [
  ...references.flatMap(({ path, chapters }) => findOperations(path, chapters)),
  ...guides.flatMap(findPassages),
  ...others.flatMap(({ findable }) => findable()),
];

function siteOf(library: Library): Site {
  const { title, hasConsole, references, guides, others } = library;
  const [first, ...more] = references;
  const pages: Group = {
    title: 'Guides',
    entries: [
      { href: '/docs', text: title },
      ...guides.map(({ name, title }): Entry => ({ href: `/docs/${name}`, text: title })),
      ...others.map(({ path, title }): Entry => ({ href: path, text: title })),
    ],
  };
  const documents: Group = {
    title: 'For machines',
    entries: documentsOf(library).map(({ address }) => ({ href: address, text: address })),
  };
  const further: Group[] =
    more.length === 0
      ? []
      : [{ title: 'More APIs', entries: more.map(({ path, title }) => ({ href: path, text: title })) }];
  const operations = first === undefined ? [] : groupsOf(first);
  return { title, hasConsole, menu: [pages, ...operations, ...further, documents] };
}

/** The operations of a reference, by tag. */
const groupsOf = ({ path, chapters }: Reference): Group[] =>
  chapters.flatMap(({ document }) =>
    document.tags.map(({ name }) => ({
      title: name,
      entries: operationsOf(document)
        .filter(({ operation }) => operation.tags.includes(name))
        .map(({ method, path: target, operation }) => ({
          href: `${path}#${operation.operationId}`,
          text: html`<span class="method">${method}</span> <span>${slashed(target.replace(/^\/(api|management)\/v1/, ''))}</span>`,
        })),
    })),
  );
