/** Focuses a button that takes the place of a form, which had the focus and is gone. Give it as the button's `ref`. */
export const focusAtFirst = (button: HTMLButtonElement | null): void => button?.focus();
