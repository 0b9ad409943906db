import { the } from './tell.js';

/** In the place of a key: calls go by the session of the console. */
export const BY_SESSION = 'session';
const SESSION = '/dashboard/api/session';
const APPS_BY_SESSION = '/dashboard/api/v1/apps';

/** The credential of this page. It is only ever in this variable. */
let key = '';
/** The function that waits for the key. @type {((key: string) => void) | undefined} */
let waiting;

/** The key; asks for it first if there is none. Stays unresolved if the person enters none. @returns {Promise<string>} */
export function neededKey() {
  if (key !== '') return Promise.resolve(key);
  return new Promise((resolve) => {
    waiting = resolve;
    openDialog();
  });
}

function openDialog() {
  the('#key-problem', HTMLElement).textContent = '';
  the('#key-dialog', HTMLDialogElement).showModal();
  void offerSession();
}

/** Somebody who is signed in to the console needs no key. */
async function offerSession() {
  const button = document.querySelector('#key-session');
  if (!(button instanceof HTMLElement)) return;
  const answer = await fetch(SESSION).catch(() => null);
  button.hidden = answer?.ok !== true;
}

/** @param {(answer: unknown) => void} onAccepted gets the service's answer to the key's first request. */
export function watchKey(onAccepted) {
  const button = document.querySelector('#key-button');
  if (!(button instanceof HTMLButtonElement)) return;
  const dialog = the('#key-dialog', HTMLDialogElement);
  const input = the('#key', HTMLInputElement);
  const forget = the('#key-forget', HTMLButtonElement);
  const { name = '', check = '' } = dialog.dataset;
  /** @param {string} text */
  const complain = (text) => {
    the('#key-problem', HTMLElement).textContent = text;
    input.focus();
  };
  const label = button.textContent;
  /** @param {string} value */
  const hold = (value) => {
    key = value;
    input.value = '';
    forget.hidden = value === '';
    button.textContent =
      value === '' ? label : value === BY_SESSION ? 'Your session' : `${name} …${value.slice(-4)}`;
    dialog.close();
  };
  button.hidden = false;
  button.addEventListener('click', openDialog);
  forget.addEventListener('click', () => hold(''));
  document.querySelector('#key-session')?.addEventListener('click', async () => {
    const problem = await problemWith(null, APPS_BY_SESSION, onAccepted);
    if (problem !== null) return complain(problem);
    const next = waiting;
    hold(BY_SESSION);
    next?.(BY_SESSION);
  });
  the('#key-cancel', HTMLButtonElement).addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    input.value = '';
    waiting = undefined;
  });
  the('form', HTMLFormElement, dialog).addEventListener('submit', async (event) => {
    event.preventDefault();
    const entered = input.value.trim();
    if (entered === '') return complain('Enter it first.');
    if (!/^[\x21-\x7e]+$/.test(entered))
      return complain('It has characters that no credential has. Copy it again.');
    const problem = await problemWith(entered, check, onAccepted);
    if (problem !== null) return complain(problem);
    const next = waiting;
    hold(entered);
    next?.(entered);
  });
}

/** The problem with a key, or with the session (null); null if the service accepts it. @param {string | null} entered @param {string} check @param {(answer: unknown) => void} onAccepted */
async function problemWith(entered, check, onAccepted) {
  try {
    const response = await fetch(
      check,
      entered === null ? {} : { headers: { Authorization: `Bearer ${entered}` } },
    );
    const answer = await response.json();
    if (response.ok) onAccepted(answer);
    return response.ok || response.status === 429 ? null : `${response.status}: ${answer.detail}`;
  } catch {
    return 'The service does not answer. Look at the network, and try again.';
  }
}
