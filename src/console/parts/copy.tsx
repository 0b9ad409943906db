import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useText } from '../i18n/use-text.ts';

const SHOWN_MS = 2_000;

export interface CopyProps {
  readonly text: string;
  /** The name of the copied text, for a screen reader. */
  readonly label: string;
}

/** Text to copy, such as a key or a command, with a button that copies it. */
export function Copy({ text, label }: CopyProps) {
  const { actions } = useText();
  const [isCopied, setIsCopied] = useState(false);
  const code = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async (): Promise<void> => setIsCopied(await copied(text, code.current));
  return (
    <div className="copy">
      <section className="copy-text" dir="ltr" aria-label={label}>
        <code ref={code}>
          {text.split(/(\s+)/).map((part, i) =>
            i % 2 === 1 ? (
              part
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: a word is known by its place.
              <span key={i} className="copy-word">
                {part}
              </span>
            ),
          )}
        </code>
      </section>
      <Button variant="default" aria-label={`${actions.copy}: ${label}`} onClick={() => void copy()}>
        {isCopied ? actions.copied : actions.copy}
      </Button>
      <span className="unseen" role="status">
        {isCopied && actions.copied}
      </span>
    </div>
  );
}

/** Without HTTPS a page has no clipboard: then the text is selected, and copied as by a person. */
async function copied(text: string, element: HTMLElement | null): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return true;
  }
  if (element === null) return false;
  getSelection()?.selectAllChildren(element);
  return document.execCommand('copy');
}
