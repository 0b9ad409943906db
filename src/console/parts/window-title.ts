import { useEffect } from 'react';
import { useText } from '../i18n/use-text.ts';

/** Names the page in the title of its window, in the person's language. */
export function useWindowTitle(title: string): void {
  const { shell } = useText();
  useEffect(() => {
    document.title = `${title} · ${shell.title}`;
  }, [title, shell]);
}
