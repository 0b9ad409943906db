import { warn } from './voice.ts';

/** Returns `work` without its errors: the page must not see them. */
export const safe =
  <Args extends unknown[]>(work: (...args: Args) => void) =>
  (...args: Args): void => {
    try {
      work(...args);
    } catch (error) {
      warn(`${error}`);
    }
  };

/** Listens to the window. `first`: before the page's own listeners, and to events of the document that do not bubble. */
export const on = <E extends Event>(type: string, work: (event: E) => void, first?: boolean): void =>
  addEventListener(type, safe(work) as EventListener, first);

type Prerendered = Document & { readonly prerendering?: boolean };

/**
 * Calls `work` now, or when the page is shown if the browser loads it in advance: it may never be seen. On a server there
 * is no page.
 */
export function whenShown(work: () => void): void {
  const page = globalThis.document as Prerendered | undefined;
  if (page?.prerendering) on('prerenderingchange', work, true);
  else if (page) work();
}
