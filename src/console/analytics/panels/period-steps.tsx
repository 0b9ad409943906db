import { ActionIcon } from '@mantine/core';
import { useMemo } from 'react';
import { useAnalytics } from '../context.ts';
import { useHint } from '../shortcuts.ts';
import { type Step, stepped } from '../view/step.ts';
import { useWords } from '../words.ts';

/** Goes to the period before or after; nowhere if there is none. */
export function useStep(): (step: Step) => (() => void) | null {
  const { view, change, now, oldest } = useAnalytics();
  const { choice, zone } = view;
  const [before, after] = useMemo(
    () => ([-1, 1] as const).map((step) => stepped(choice, step, { zone, now, oldest })),
    [choice, zone, now, oldest],
  );
  return (step) => {
    const next = step === -1 ? before : after;
    return next === null || next === undefined ? null : () => change({ choice: next });
  };
}

const KEYS = { before: 'P', after: 'N' } as const;

/** Arrows to the period before and after. */
export function PeriodSteps() {
  const { text } = useWords();
  const go = useStep();
  const hint = useHint();
  return (
    <div className="period-steps">
      {(['before', 'after'] as const).map((way) => {
        const run = go(way === 'before' ? -1 : 1);
        return (
          <ActionIcon
            key={way}
            variant="default"
            size={36}
            aria-label={text.steps[way]}
            title={run === null ? text.steps[`no-${way}`] : hint(text.steps[way], KEYS[way])}
            // It keeps the focus, so that the keyboard finds the way back.
            {...(run === null ? { 'data-disabled': true, 'aria-disabled': true } : { onClick: run })}
          >
            <svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true" className={`arrow-${way}`}>
              <path d="M12.5 4 6.5 10l6 6" fill="none" stroke="currentColor" strokeWidth="1.8" />
            </svg>
          </ActionIcon>
        );
      })}
    </div>
  );
}
