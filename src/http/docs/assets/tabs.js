import { tell } from './tell.js';

/** Shows one language of each call, the same for all calls of the page, and copies it. */
export function watchTabs() {
  for (const list of document.querySelectorAll('.tabs')) if (list instanceof HTMLElement) list.hidden = false;
  const tabs = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll('[role="tab"]'));
  const snippets = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.snippet'));
  for (const snippet of snippets) {
    snippet.setAttribute('role', 'tabpanel');
    snippet.setAttribute('aria-labelledby', `${snippet.id}-tab`);
  }
  /** @param {string} language */
  const choose = (language) => {
    for (const tab of tabs) {
      const isChosen = tab.dataset['language'] === language;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
    for (const snippet of snippets) snippet.hidden = snippet.dataset['language'] !== language;
  };
  choose('curl');
  for (const tab of tabs) {
    tab.addEventListener('click', () => keepInPlace(tab, () => choose(tab.dataset['language'] ?? '')));
    tab.addEventListener('keydown', (event) => move(tab, event));
  }
  for (const button of document.querySelectorAll('.copy')) {
    if (button instanceof HTMLElement) button.hidden = false;
    button.addEventListener('click', () => copy(button));
  }
}

/** The texts above change their height too: the tab stays under the pointer. @param {Element} tab @param {() => void} change */
function keepInPlace(tab, change) {
  const before = tab.getBoundingClientRect().top;
  change();
  scrollBy(0, tab.getBoundingClientRect().top - before);
}

const STEPS = new Map([
  ['ArrowRight', 1],
  ['ArrowLeft', -1],
]);

/** @param {HTMLButtonElement} tab @param {KeyboardEvent} event */
function move(tab, event) {
  const step = STEPS.get(event.key);
  const list = tab.closest('[role="tablist"]');
  if (step === undefined || list === null) return;
  const all = /** @type {HTMLButtonElement[]} */ ([...list.querySelectorAll('[role="tab"]')]);
  const next = all[(all.indexOf(tab) + step + all.length) % all.length];
  next?.click();
  next?.focus({ preventScroll: true });
  event.preventDefault();
}

/** @param {Element} button */
async function copy(button) {
  const shown = button.closest('.sample, .call')?.querySelector('pre:not([hidden] *) code');
  if (shown === null || shown === undefined) return;
  try {
    await navigator.clipboard.writeText(shown.textContent ?? '');
    tell('Copied');
  } catch {
    // Over plain HTTP a browser may refuse the clipboard. The text is then selected instead.
    getSelection()?.selectAllChildren(shown);
    tell('Selected: copy it with the keyboard');
  }
}
