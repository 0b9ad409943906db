const SHOWN_MS = 2_500;

/** Shows a short message, which screen readers read out. @param {string} text */
export function tell(text) {
  const place = document.querySelector('.announce');
  if (place === null) return;
  place.textContent = text;
  setTimeout(() => {
    if (place.textContent === text) place.textContent = '';
  }, SHOWN_MS);
}

/**
 * Makes an element with texts and elements in it. Texts of the service are never markup.
 * @param {string} tag @param {Readonly<Record<string, string>>} attributes @param {...(string | Node)} children
 */
export function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * Finds an element that is on every page where it is looked for.
 * @template {Element} E @param {string} selector @param {new () => E} kind @param {ParentNode} [inside] @returns {E}
 */
export function the(selector, kind, inside = document) {
  const found = inside.querySelector(selector);
  if (found instanceof kind) return found;
  throw new Error(`The page has no ${selector}.`);
}
