import type { NameKind } from '../lists.ts';
import { alike, type Condition, type Filter, type FilterBy, filtersOf, segmentOf } from '../view/filters.ts';
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
  visitorType: 'visitorType',
};

/** Conditions of one kind and operator: `Country is Iran or Germany`. */
interface Group {
  readonly key: string;
  readonly label: string;
  readonly operator: string;
  readonly values: string;
}

/** Says filters in the person's language. */
export function useFilterWords(): {
  readonly groupsOf: (filter: Filter) => readonly Group[];
  readonly written: (filter: Filter) => string;
  /** A whole segment in words; one that is wrong as it is. */
  readonly segment: (segment: string) => string;
} {
  const { text, name } = useWords();
  const value = ({ by, value }: Condition): string => name(KINDS[by] ?? 'text', value === '' ? null : value);
  const groupsOf = (filter: Filter): readonly Group[] =>
    alike(filter).map((group) => ({
      key: segmentOf([group]),
      label: text.filters[group[0].by as FilterBy] ?? group[0].by,
      operator: text.operators[group[0].operator as keyof typeof text.operators],
      values: group.map(value).join(text.or),
    }));
  const written = (filter: Filter): string =>
    groupsOf(filter)
      .map(({ label, operator, values }) => `${label} ${operator} ${values}`)
      .join(text.or);
  return {
    groupsOf,
    written,
    segment: (segment) => {
      const filters = filtersOf(segment);
      return filters.length === 0 ? segment : filters.map(written).join(text.and);
    },
  };
}
