import { element, the } from './tell.js';

const MOST = 12;

/** @typedef {{ title: string, href: string, kind: string, text: string }} Findable */

/** @type {Promise<Findable[]> | undefined} */
let index;
function loaded() {
  index ??= fetch('/docs/search.json').then((response) => response.json());
  return index;
}

/** Finds operations, guides, errors and figures with all the words that a person types. */
export function watchSearch() {
  the('.search', HTMLElement).hidden = false;
  const input = the('#search', HTMLInputElement);
  const found = the('#found', HTMLElement);
  input.addEventListener('focus', () => void loaded());
  input.addEventListener('input', async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = words.length === 0 ? [] : await loaded();
    show(found, words, best(all, words));
  });
  document.addEventListener('keydown', (event) => onKey(event, input, found));
  found.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a') !== null) found.hidden = true;
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('.search') === null) found.hidden = true;
  });
}

/** Those with all words, the ones with a word in their title first. @param {Findable[]} all @param {string[]} words */
function best(all, words) {
  return all
    .map((each) => ({ each, points: pointsOf(each, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, MOST)
    .map(({ each }) => each);
}

/** @param {Findable} findable @param {string[]} words */
function pointsOf({ title, kind, text }, words) {
  const name = title.toLowerCase();
  const rest = `${kind} ${text}`.toLowerCase();
  let points = 0;
  for (const word of words) {
    if (name.includes(word)) points += name === word ? 20 : 10;
    else if (rest.includes(word)) points += 1;
    else return 0;
  }
  return points;
}

/** @param {HTMLElement} found @param {string[]} words @param {Findable[]} results */
function show(found, words, results) {
  found.hidden = words.length === 0;
  const items = results.map(({ title, href, kind, text }) =>
    element(
      'li',
      {},
      element(
        'a',
        { href },
        element('strong', {}, title),
        element('span', { class: 'kind' }, kind),
        element('span', { class: 'excerpt' }, excerpt(text, words)),
      ),
    ),
  );
  found.replaceChildren(
    ...(items.length > 0 ? items : [element('li', { class: 'none' }, 'Nothing has all these words.')]),
  );
}

/** The text around the first of the words. @param {string} text @param {string[]} words */
function excerpt(text, words) {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const before = text.slice(0, Math.min(...places, text.length)).lastIndexOf(' ', (places[0] ?? 0) - 30);
  const start = places.length === 0 ? 0 : Math.max(0, before + 1);
  return `${start > 0 ? '… ' : ''}${text.slice(start, start + 110).trim()}`;
}

/** @param {KeyboardEvent} event @param {HTMLInputElement} input @param {HTMLElement} found */
function onKey(event, input, found) {
  const { key, target } = event;
  const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select');
  if (key === '/' && !isTyping && document.querySelector('dialog[open]') === null) {
    event.preventDefault();
    input.focus();
  }
  if (found.hidden || !(target instanceof Element) || target.closest('.search') === null) return;
  const links = /** @type {HTMLElement[]} */ ([...found.querySelectorAll('a')]);
  const at =
    document.activeElement === null ? -1 : links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  if (key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (key === 'ArrowUp') (links[at - 1] ?? input).focus();
  else if (key === 'Enter' && target === input) links[0]?.click();
  else if (key === 'Escape') {
    found.hidden = true;
    input.focus();
  } else return;
  event.preventDefault();
}
