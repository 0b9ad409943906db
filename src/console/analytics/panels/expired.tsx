import { Button } from '@mantine/core';
import type { Nearest } from '../../../client/index.ts';
import { EmptyState } from '../../states.tsx';
import { useAnalytics } from '../context.ts';
import { wallAt } from '../view/zone.ts';
import { useWords } from '../words.ts';

/** The range needs events that have expired: offers the nearest one that does not. */
export function Expired({ nearest: { from, to } }: { readonly nearest: Nearest }) {
  const { view, change } = useAnalytics();
  const { text, period } = useWords();
  if (from === null || to === null) return <EmptyState title={text.expired}>{text.expiredText}</EmptyState>;
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const choice = { from: wallAt(first, view.zone), to: wallAt(last, view.zone) };
  return (
    <EmptyState
      title={text.expired}
      action={
        <Button variant="default" onClick={() => change({ choice })}>
          {text.expiredAction(period({ from: first, to: last }, view.zone))}
        </Button>
      }
    >
      {text.expiredText}
    </EmptyState>
  );
}
