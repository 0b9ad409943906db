import { CloseButton } from '@mantine/core';
import { useAnalytics } from '../context.ts';
import type { NameKind } from '../lists.ts';
import { canBeNegated, type Filter, type FilterBy, filtersOf, negated, segmentOf } from '../view/filters.ts';
import { useWords } from '../words.ts';

/** How the values of a filter are written, where they are not texts. */
const KINDS: Readonly<Partial<Record<string, NameKind>>> = {
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

function Chip({ filter, onNegate, onRemove }: ChipProps) {
  const { text, name } = useWords();
  const [first] = filter;
  if (first === undefined) return null;
  const label = text.filters[first.by as FilterBy] ?? first.by;
  const operator = text.operators[first.operator as keyof typeof text.operators];
  const values = filter
    .map(({ by, value }) => name(KINDS[by] ?? 'text', value === '' ? null : value))
    .join(text.or);
  return (
    <li className="chip">
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
      <CloseButton
        size="sm"
        aria-label={text.removeFilter(`${label} ${operator} ${values}`)}
        onClick={onRemove}
      />
    </li>
  );
}
