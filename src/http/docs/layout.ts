import { html, type Markup } from './markup.ts';

/** A link of the menu. */
export interface Entry {
  readonly href: string;
  readonly text: string | Markup;
}

/** Links under one heading of the menu. */
export interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The credential that a person enters to try calls. */
export interface Credential {
  /** In the words of the page: "API key". */
  readonly name: string;
  /** Shown in the empty field. */
  readonly looks: string;
  /** A path that answers 200 to a valid one. */
  readonly check: string;
}

/** Everything that is the same on each page of one listener. */
export interface Site {
  readonly title: string;
  readonly menu: readonly Group[];
  /** True if the listener serves the console, too. */
  readonly hasConsole: boolean;
}

export interface PageParts {
  readonly title: string;
  readonly path: string;
  readonly content: Markup | readonly Markup[];
  /** Null on a page without calls that need one. */
  readonly credential: Credential | null;
}

/** Returns a whole page. It can be read without its script, which adds the search, the menu of phones, and trying. */
export const pageText = (
  { title: site, menu, hasConsole }: Site,
  { title, path, content, credential }: PageParts,
): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === site ? title : `${title} · ${site}`}</title>
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/page.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<button type="button" id="menu-button" aria-expanded="false" aria-controls="menu" hidden>Menu</button>
<a class="home" href="/docs">${site}</a>
<search class="search" hidden>
<label class="unseen" for="search">Search the reference and the guides</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-describedby="search-hint">
<span class="unseen" id="search-hint">Press / to come here. Links to what was found follow.</span>
<ul id="found" hidden></ul>
</search>
${hasConsole ? html`<a class="to-console" href="/dashboard">Console</a>` : []}
${credential === null ? [] : keyParts(credential, hasConsole)}
</header>
<nav id="menu" aria-label="Contents">
${menu.map((group) => navigation(group, path))}
</nav>
<main id="content">
${content}
</main>
<p class="announce" role="status" aria-live="polite"></p>
</body>
</html>
`.markup;

const navigation = ({ title, entries }: Group, path: string): Markup => html`<p class="group">${title}</p>
<ul>${entries.map(
  ({ href, text }) =>
    html`<li><a href="${href}"${href === path ? html` aria-current="page"` : []}>${text}</a></li>
`,
)}</ul>
`;

/** The key stays in the memory of the page: it is written nowhere, and leaves with the page. */
const keyParts = (
  { name, looks, check }: Credential,
  hasConsole: boolean,
): Markup => html`<button type="button" id="key-button" hidden>Enter ${article(name)}</button>
<dialog id="key-dialog" aria-labelledby="key-title" data-name="${name}" data-check="${check}">
<form method="dialog">
<h2 id="key-title">${name}</h2>
<p>Enter it once to try calls on this page. It stays in the memory of this page alone: leaving or reloading the page forgets it. It is sent to this service and nowhere else.</p>
<label for="key">${name}</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="${looks}" aria-describedby="key-problem">
<p id="key-problem" role="alert"></p>
<p class="buttons"><button type="submit" class="main">Use it</button><button type="button" id="key-forget" hidden>Forget it</button><button type="button" id="key-cancel">Cancel</button></p>
${hasConsole ? html`<p class="buttons"><button type="button" id="key-session" hidden>Use my session in the console</button></p>` : []}
</form>
</dialog>
`;

const article = (name: string): string => `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`;
