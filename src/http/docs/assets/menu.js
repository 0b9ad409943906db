import { the } from './tell.js';

/** Opens and closes the menu of narrow windows. Wide ones always show it. */
export function watchMenu() {
  const button = the('#menu-button', HTMLButtonElement);
  const menu = the('#menu', HTMLElement);
  /** @param {boolean} isOpen */
  const open = (isOpen) => {
    button.setAttribute('aria-expanded', String(isOpen));
    menu.classList.toggle('open', isOpen);
  };
  button.hidden = false;
  button.addEventListener('click', () => open(button.getAttribute('aria-expanded') !== 'true'));
  menu.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a') !== null) open(false);
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || button.getAttribute('aria-expanded') !== 'true') return;
    open(false);
    button.focus();
  });
}
