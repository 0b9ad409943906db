import { BY_SESSION, neededKey, watchKey } from './key.js';
import { element, tell, the } from './tell.js';

/** The most characters of an answer that are shown. */
const MOST = 200_000;

/** Lets people try calls: the form of each one, and the answer below it. */
export function watchCalls() {
  for (const call of document.querySelectorAll('.call')) {
    const form = call.querySelector('form');
    const details = call.querySelector('.try');
    if (form === null || !(call instanceof HTMLElement) || !(details instanceof HTMLElement)) continue;
    details.hidden = false;
    form.addEventListener('input', ({ target }) => {
      if (target instanceof HTMLInputElement) write(call, target.name, target.value);
    });
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const key = 'key' in call.dataset ? await neededKey() : null;
      await send(call, form, key);
    });
  }
  watchKey(fillInApp);
}

/** Puts the account's first app into every form, in the place of the example's. @param {unknown} apps */
function fillInApp(apps) {
  if (!Array.isArray(apps) || typeof apps[0]?.id !== 'string') return;
  for (const input of document.querySelectorAll('.try input[name="appId"]')) {
    const call = input.closest('.call');
    if (!(input instanceof HTMLInputElement) || input.value !== input.defaultValue || call === null) continue;
    input.value = apps[0].id;
    write(call, 'appId', input.value);
  }
}

/** How a value stands in a command. The service writes the page by the same rules. @type {Record<string, (value: string) => string>} */
const QUOTES = {
  url: (value) => encodeURIComponent(value).replaceAll('%3A', ':').replaceAll("'", '%27'),
  text: (value) => JSON.stringify(value),
  number: (value) => (/^\d+$/.test(value) ? value : JSON.stringify(value)),
};

/** Writes a parameter's value into the commands of its call. @param {Element} call @param {string} name @param {string} value */
function write(call, name, value) {
  for (const place of call.querySelectorAll('[data-param]')) {
    if (!(place instanceof HTMLElement) || place.dataset['param'] !== name) continue;
    const { quote = '', before = '', after = '' } = place.dataset;
    place.textContent = value === '' ? '' : `${before}${QUOTES[quote]?.(value) ?? value}${after}`;
  }
}

/** The address of a call with the values of its form. @param {HTMLElement} call @param {HTMLFormElement} form */
function targetOf({ dataset }, form) {
  const query = new URLSearchParams();
  let path = dataset['path'] ?? '';
  for (const input of form.querySelectorAll('input')) {
    if (input.name === '') continue;
    if (path.includes(`{${input.name}}`))
      path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    else if (input.value !== '') query.set(input.name, input.value);
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** @param {HTMLElement} call @param {HTMLFormElement} form @param {string | null} key */
async function send(call, form, key) {
  const result = the('.result', HTMLElement, call);
  const button = the('button[type="submit"]', HTMLButtonElement, form);
  const body = form.querySelector('textarea')?.value;
  const accept = form.querySelector('select')?.value ?? 'application/json';
  const tag = form.querySelector('[data-tag]');
  const known = tag instanceof HTMLInputElement ? tag.value.trim() : '';
  button.disabled = true;
  const began = performance.now();
  try {
    const target = targetOf(call, form);
    const response = await fetch(key === BY_SESSION ? target.replace('/api/', '/dashboard/api/') : target, {
      method: call.dataset['method'] ?? 'GET',
      // Each call asks anew, so that its status is the service's own.
      cache: 'no-store',
      headers: {
        Accept: accept,
        ...(key === null || key === BY_SESSION ? {} : { Authorization: `Bearer ${key}` }),
        ...(known === '' ? {} : { 'If-None-Match': known }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const bytes = await response.arrayBuffer();
    const ms = Math.round(performance.now() - began);
    show(result, response, bytes, ms);
    tell(`${response.status} ${response.statusText} in ${ms} ms`);
  } catch {
    result.replaceChildren(
      element('p', { class: 'problem' }, 'There is no answer. Look at the network, and try again.'),
    );
    tell('There is no answer.');
  } finally {
    button.disabled = false;
  }
  result.hidden = false;
  result.scrollIntoView({ block: 'nearest' });
}

/** @param {HTMLElement} result @param {Response} response @param {ArrayBuffer} bytes @param {number} ms */
function show(result, response, bytes, ms) {
  const { status, statusText, headers } = response;
  const type = headers.get('Content-Type') ?? '';
  const isText = /json|text|csv/.test(type);
  const text = isText ? new TextDecoder().decode(bytes) : '';
  result.replaceChildren(
    element(
      'p',
      { class: 'caption' },
      element('span', { class: `status s${String(status).charAt(0)}` }, `${status} ${statusText}`),
      ` ${ms} ms, ${bytes.byteLength.toLocaleString('en')} bytes`,
    ),
    ...(type.startsWith('application/problem+json') ? [problemOf(text)] : []),
    element('details', {}, element('summary', {}, 'Headers'), headerList(headers)),
    isText
      ? element(
          'pre',
          { tabindex: '0', role: 'region', 'aria-label': 'Body of the answer' },
          element('code', {}, readable(type, text)),
        )
      : element('p', {}, `The body is ${type}, which is no text.`),
  );
}

/** A failure in words, with the way to its explanation. @param {string} text */
function problemOf(text) {
  const { type, code, detail, errors = [], retryAfterSeconds } = JSON.parse(text);
  return element(
    'div',
    { class: 'problem' },
    element('p', {}, detail),
    ...errors.map((/** @type {{ field: string, message: string }} */ { field, message }) =>
      element('p', {}, element('code', {}, field), ` ${message}`),
    ),
    ...(retryAfterSeconds === undefined
      ? []
      : [element('p', {}, `Send it again after ${retryAfterSeconds} s.`)]),
    element('p', {}, element('a', { href: type }, `What ${code} means`)),
  );
}

/** @param {Headers} headers */
function headerList(headers) {
  const list = element('dl', {});
  for (const [name, value] of headers) list.append(element('dt', {}, name), element('dd', {}, value));
  return list;
}

/** @param {string} type @param {string} text */
function readable(type, text) {
  const whole =
    type.includes('json') && !type.includes('ndjson') ? JSON.stringify(JSON.parse(text), null, 2) : text;
  if (whole.length <= MOST) return whole;
  return `${whole.slice(0, MOST)}\n… ${(whole.length - MOST).toLocaleString('en')} more characters`;
}
