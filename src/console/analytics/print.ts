import { useCallback, useEffect, useState } from 'react';
import { longestWait } from './questions.ts';

const LOOK_MS = 150;
/** A panel whose answer takes longer is printed as it is. */
const LONGEST_MS = 15_000;
const SCHEME = 'data-mantine-color-scheme';

/**
 * Prints the whole page. Panels out of view have asked nothing yet, so they ask first (`isWhole`). The keys of the browser
 * for printing do the same.
 */
export function usePrint(): { readonly isWhole: boolean; readonly print: () => void } {
  const [isWhole, setIsWhole] = useState(false);
  const print = useCallback(() => setIsWhole(true), []);
  useEffect(() => {
    if (!isWhole) return;
    const begun = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      // The map is drawn from a file that no question brings.
      const isLoading = longestWait(now) > 0 || document.querySelector('.panel .loading') !== null;
      const isReady = now - begun > 2 * LOOK_MS && !isLoading;
      if (!isReady && now - begun < LONGEST_MS) return;
      clearInterval(timer);
      window.print();
      setIsWhole(false);
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [isWhole]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'p' || !(event.ctrlKey || event.metaKey) || event.shiftKey) return;
      event.preventDefault();
      print();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [print]);
  useEffect(onLightPaper, []);
  return { isWhole, print };
}

/** Paper is light, whatever the screen is. */
function onLightPaper(): () => void {
  const root = document.documentElement;
  let scheme: string | null = null;
  const before = (): void => {
    scheme = root.getAttribute(SCHEME);
    root.setAttribute(SCHEME, 'light');
  };
  const after = (): void => root.setAttribute(SCHEME, scheme ?? 'light');
  window.addEventListener('beforeprint', before);
  window.addEventListener('afterprint', after);
  return () => {
    window.removeEventListener('beforeprint', before);
    window.removeEventListener('afterprint', after);
  };
}
