import { ActionIcon, Switch } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { useAnalytics } from '../context.ts';
import { type Shortcut, type useShortcutSwitch, useShortcuts } from '../shortcuts.ts';
import { INTERVALS, intervalsOf } from '../view/interval.ts';
import type { Preset } from '../view/range.ts';
import { useWords } from '../words.ts';
import { useStep } from './period-steps.tsx';

const RANGES: readonly (readonly [key: string, preset: Preset])[] = [
  ['T', 'today'],
  ['Y', 'yesterday'],
  ['H', '24h'],
  ['W', '7d'],
  ['M', '28d'],
  ['Q', '90d'],
  ['A', '365d'],
];
/** The field of the search. */
export const FIND = 'find-in-lists';

/** All shortcuts of the page, but for the one that lists them. */
function useAll(): readonly Shortcut[] {
  const { view, change, range } = useAnalytics();
  const { text } = useWords();
  const step = useStep();
  const units = intervalsOf(range);
  return [
    { key: 'P', label: text.steps.before, run: step(-1) },
    { key: 'N', label: text.steps.after, run: step(1) },
    ...RANGES.map(([key, choice]) => ({
      key,
      label: text.range.presets[choice],
      run: () => change({ choice }),
    })),
    ...INTERVALS.map((interval, i) => ({
      key: String(i + 1),
      label: text.shortcuts.unit(text.intervals[interval]),
      run: units.includes(interval) ? () => change({ interval }) : null,
    })),
    {
      key: 'C',
      label: text.beside,
      run: view.against === 'none' ? null : () => change({ isCompared: !view.isCompared }),
    },
    { key: 'F', label: text.find, run: () => document.getElementById(FIND)?.focus() },
    {
      key: 'X',
      label: text.noFilters,
      run: view.segment === '' ? null : () => change({ segment: '' }),
    },
  ];
}

interface ShortcutsProps {
  readonly isOn: boolean;
  readonly turn: ReturnType<typeof useShortcutSwitch>[1];
}

/** Listens to the keys of the page. Its button lists them, and so does the question mark. */
export function Shortcuts({ isOn, turn }: ShortcutsProps) {
  const { text } = useWords();
  const [isOpen, setIsOpen] = useState(false);
  const open = (): void => setIsOpen(true);
  const all: readonly Shortcut[] = [...useAll(), { key: '?', label: text.shortcuts.list, run: open }];
  useShortcuts(all, isOn);
  return (
    <>
      <ActionIcon
        variant="default"
        size={26}
        className="no-print"
        aria-label={text.shortcuts.title}
        aria-haspopup="dialog"
        title={text.shortcuts.title}
        onClick={open}
      >
        <span aria-hidden="true">?</span>
      </ActionIcon>
      {isOpen && (
        <Dialog title={text.shortcuts.title} onClose={() => setIsOpen(false)}>
          <Switch
            label={text.shortcuts.use}
            description={text.shortcuts.useText}
            checked={isOn}
            data-autofocus
            onChange={(event) => turn(event.currentTarget.checked)}
          />
          <dl className="shortcuts" data-on={isOn}>
            {all.map(({ key, label }) => (
              <div key={key}>
                <dt>{label}</dt>
                <dd>
                  <kbd dir="ltr">{key}</kbd>
                </dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  );
}
