import { type Change, moodOf } from '../changes.ts';
import { useAnalytics } from '../context.ts';
import { useWords } from '../words.ts';

/** Why nothing can be compared with the other period: the data begin inside it, or after it. Null if something can. */
export function useLack(): string | null {
  const { against, oldest } = useAnalytics();
  const { view } = useAnalytics();
  const { text, format } = useWords();
  const hasAll = against === null || typeof oldest !== 'number' || oldest <= against.range.from;
  return hasAll ? null : text.noDataBefore(format.date(oldest, view.zone));
}

/** The change of a figure against the other period: a sign, a number and, by colour, whether it is welcome. */
export function ChangeMark({ figure, change }: { readonly figure: string; readonly change: Change }) {
  const { text, change: written } = useWords();
  const lack = useLack();
  if (change.kind === 'unknown' || lack !== null) {
    return (
      <span className="change" data-mood="even">
        <span aria-hidden="true">–</span>
        <span className="unseen">{lack ?? text.change.unknown}</span>
      </span>
    );
  }
  return (
    <span className="change" data-mood={moodOf(figure, change)}>
      <bdi>{written(change)}</bdi>
    </span>
  );
}
