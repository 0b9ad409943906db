import { TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useAnalytics } from '../context.ts';
import { useWords } from '../words.ts';
import { FIND } from './shortcuts.tsx';

/** How long after the last letter the lists are cut. */
const PAUSE_MS = 250;

/** A text that the rows of lists must have. It is in the address. */
export function Find({ label }: { readonly label: string }) {
  const { view, change } = useAnalytics();
  const { text } = useWords();
  const [typed, setTyped] = useState(view.find);
  const { find } = view;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the typed text is waited for.
  useEffect(() => {
    if (typed === find) return;
    const timer = setTimeout(() => change({ find: typed }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  // Back and forward in the history.
  useEffect(() => setTyped(find), [find]);
  return (
    <TextInput
      type="search"
      id={FIND}
      className="toolbar-find"
      label={label}
      placeholder={text.findPlaceholder}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  );
}
