import { type Change, moodOf } from '../changes.ts';
import { useWords } from '../words.ts';

/** The change of a figure against the period before: a sign, a number and, by colour, whether it is welcome. */
export function ChangeMark({ figure, change }: { readonly figure: string; readonly change: Change }) {
  const { text, change: written } = useWords();
  if (change.kind === 'unknown') {
    return (
      <span className="change" data-mood="even">
        <span aria-hidden="true">–</span>
        <span className="unseen">{text.change.unknown}</span>
      </span>
    );
  }
  return (
    <span className="change" data-mood={moodOf(figure, change)}>
      <bdi>{written(change)}</bdi>
    </span>
  );
}
