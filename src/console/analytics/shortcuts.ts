import { createContext, useContext, useEffect, useRef, useState } from 'react';
import { keep, kept } from '../parts/kept.ts';

/** A letter, digit or sign, and what it does. */
export interface Shortcut {
  readonly key: string;
  readonly label: string;
  /** Null while it can do nothing. */
  readonly run: (() => void) | null;
}

const KEPT = 'console-shortcuts';

/** Whether single keys do something. A person can switch that off (WCAG 2.1.4); the browser keeps the choice. */
export function useShortcutSwitch(): readonly [isOn: boolean, turn: (isOn: boolean) => void] {
  const [isOn, setIsOn] = useState(() => kept(KEPT) !== 'off');
  const turn = (next: boolean): void => {
    keep(KEPT, next ? 'on' : 'off');
    setIsOn(next);
  };
  return [isOn, turn];
}

const ShortcutsContext = createContext(false);
/** Tells the buttons within whether their keys work. */
export const ShortcutsProvider = ShortcutsContext.Provider;

/** Adds the key to the title of a button, if it works. */
export function useHint(): (title: string, key: string) => string {
  const isOn = useContext(ShortcutsContext);
  return (title, key) => (isOn ? `${title} (${key})` : title);
}

/** Where letters are typed or choose something. */
const TYPED =
  'input:not([type=radio]):not([type=checkbox]), select, textarea, [contenteditable]:not([contenteditable=false]), [role=textbox]';

/**
 * Runs the shortcut of each key, but not where the key means something else: in a field, in a dialog, with Ctrl, Alt or
 * Meta. On a keyboard of another script the place of the key counts. Screen readers take single keys for themselves
 * while they read, so nothing clashes there.
 */
export function useShortcuts(shortcuts: readonly Shortcut[], isOn: boolean): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    if (!isOn) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing || event.repeat) return;
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.target instanceof Element && event.target.closest(TYPED) !== null) return;
      if (document.querySelector('[role=dialog]') !== null) return;
      const key = keyOf(event);
      const found = latest.current.find((each) => each.key.toLowerCase() === key);
      if (found === undefined) return;
      event.preventDefault();
      found.run?.();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [isOn]);
}

/** The Latin letter, digit or sign of a key. */
function keyOf({ key, code }: KeyboardEvent): string {
  if (key === '\u061f') return '?';
  if (/^[\x21-\x7e]$/.test(key)) return key.toLowerCase();
  return (/^(?:Key|Digit)(.)$/.exec(code)?.[1] ?? '').toLowerCase();
}
