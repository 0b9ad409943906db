import { CloseButton } from '@mantine/core';
import { Fragment } from 'react';
import { useAnalytics } from '../context.ts';
import { canBeNegated, type Filter, filtersOf, isWrong, negated, segmentOf } from '../view/filters.ts';
import { useWords } from '../words.ts';
import { useFilterWords } from './filter-words.ts';

/** The filters of the page. Each can be turned into its opposite, and removed. */
export function Chips() {
  const { view, change } = useAnalytics();
  const { text } = useWords();
  const filters = filtersOf(view.segment);
  if (isWrong(view.segment)) {
    return (
      <ul className="chips" aria-label={text.filtersLabel}>
        <WrongChip segment={view.segment} onRemove={() => change({ segment: '' })} />
      </ul>
    );
  }
  if (filters.length === 0) return null;
  const set = (next: readonly Filter[]): void => change({ segment: segmentOf(next) });
  return (
    <ul className="chips" aria-label={text.filtersLabel}>
      {filters.map((filter, i) => (
        <Chip
          key={segmentOf([filter])}
          filter={filter}
          onNegate={() => set(negated(filters, i))}
          onRemove={() => set(filters.filter((_, each) => each !== i))}
        />
      ))}
    </ul>
  );
}

interface ChipProps {
  readonly filter: Filter;
  readonly onNegate: () => void;
  readonly onRemove: () => void;
}

/** A filter that is no segment: the panels show why. */
function WrongChip({ segment, onRemove }: { readonly segment: string; readonly onRemove: () => void }) {
  const { text } = useWords();
  return (
    <li className="chip">
      <span>{text.wrongFilter}</span>
      <b>
        <bdi>{segment}</bdi>
      </b>
      <CloseButton
        size="sm"
        aria-label={text.removeFilter(`${text.wrongFilter} ${segment}`)}
        onClick={onRemove}
      />
    </li>
  );
}

function Chip({ filter, onNegate, onRemove }: ChipProps) {
  const { text } = useWords();
  const { groupsOf, written } = useFilterWords();
  const groups = groupsOf(filter);
  return (
    <li className="chip">
      {groups.map(({ key, label, operator, values }, i) => (
        <Fragment key={key}>
          {i > 0 && <span>{text.or.trim()}</span>}
          <span>{label}</span>
          {canBeNegated(filter) ? (
            <button type="button" className="chip-operator" title={text.negate} onClick={onNegate}>
              {operator}
            </button>
          ) : (
            <span>{operator}</span>
          )}
          <b>
            <bdi>{values}</bdi>
          </b>
        </Fragment>
      ))}
      <CloseButton size="sm" aria-label={text.removeFilter(written(filter))} onClick={onRemove} />
    </li>
  );
}
