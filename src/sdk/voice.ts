export const NAME = 'session-analytics:';
const said = new Set<string>();
let isOpen = false;

/** Also shows the SDK's actions, from here on. */
export const openUp = (): void => {
  isOpen = true;
};

/** Tells the page's author what is wrong, once on each page. `more`: the details. */
export function warn(text: string, ...more: readonly object[]): void {
  if (said.has(text)) return;
  said.add(text);
  // biome-ignore lint/suspicious/noConsole: the console is the only place where the page's author looks.
  console.warn(NAME, text, ...more);
}

export function debug(...about: unknown[]): void {
  // biome-ignore lint/suspicious/noConsole: the page asked for it.
  if (isOpen) console.debug(NAME, ...about);
}
