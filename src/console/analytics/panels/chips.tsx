import { CloseButton } from '@mantine/core';
import { Fragment } from 'react';
import { useAnalytics } from '../context.ts';
import type { NameKind } from '../lists.ts';
import {
  alike,
  canBeNegated,
  type Filter,
  type FilterBy,
  filtersOf,
  isWrong,
  negated,
  segmentOf,
} from '../view/filters.ts';
import { useWords } from '../words.ts';

/** How the values of a filter are written, where they are not texts. */
export const KINDS: Readonly<Partial<Record<string, NameKind>>> = {
  page: 'path',
  entryPage: 'path',
  exitPage: 'path',
  referrer: 'host',
  channel: 'channel',
  country: 'country',
  city: 'place',
  device: 'device',
  language: 'language',
};

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
  const { text, name } = useWords();
  const groups = alike(filter).map(([first, ...others]) => ({
    key: segmentOf([[first, ...others]]),
    label: text.filters[first.by as FilterBy] ?? first.by,
    operator: text.operators[first.operator as keyof typeof text.operators],
    values: [first, ...others]
      .map(({ by, value }) => name(KINDS[by] ?? 'text', value === '' ? null : value))
      .join(text.or),
  }));
  const whole = groups.map(({ label, operator, values }) => `${label} ${operator} ${values}`).join(text.or);
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
      <CloseButton size="sm" aria-label={text.removeFilter(whole)} onClick={onRemove} />
    </li>
  );
}
