/*
 * Filters are a segment of the API, as it stands in the address: clauses that all must hold, each with conditions of which
 * one must hold. See docs/examples.md.
 */

/** What a list's rows can be filtered by. */
export type FilterBy =
  | 'page'
  | 'entryPage'
  | 'exitPage'
  | 'channel'
  | 'referrer'
  | 'source'
  | 'medium'
  | 'campaign'
  | 'term'
  | 'content'
  | 'country'
  | 'region'
  | 'city'
  | 'browser'
  | 'os'
  | 'device'
  | 'screen'
  | 'language'
  | 'target'
  | 'event'
  | 'error';

export interface Condition {
  readonly by: string;
  readonly operator: string;
  readonly value: string;
}
/** Conditions of which one must hold. */
export type Filter = readonly Condition[];

const CONDITION = /^([A-Za-z]+)(==|!=|=@|!@|=\^|=\$)(.*)$/su;
/** The characters that have a meaning in a segment. */
const encoded = (value: string): string => value.replace(/[%;,]/g, encodeURIComponent);

/** Reads a segment. Returns none for a text that is no segment: the service would refuse it. */
export function filtersOf(segment: string): readonly Filter[] {
  if (segment === '') return [];
  try {
    return segment.split(';').map((clause) =>
      clause.split(',').map((condition) => {
        const [, by = '', operator = '', value = ''] = CONDITION.exec(condition) ?? [];
        if (by === '') throw new Error('This is no condition.');
        return { by, operator, value: decodeURIComponent(value) };
      }),
    );
  } catch {
    return [];
  }
}

export const segmentOf = (filters: readonly Filter[]): string =>
  filters
    .map((filter) => filter.map(({ by, operator, value }) => `${by}${operator}${encoded(value)}`).join(','))
    .join(';');

/** Filters by one more value: beside others of the same kind, it is another possibility. */
export function withValue(filters: readonly Filter[], by: FilterBy, value: string): readonly Filter[] {
  const added: Condition = { by, operator: '==', value };
  const place = filters.findIndex((filter) =>
    filter.every((each) => each.by === by && each.operator === '=='),
  );
  const found = filters[place];
  if (found === undefined) return [...filters, [added]];
  if (found.some((each) => each.value === value)) return filters;
  return filters.map((filter, i) => (i === place ? [...found, added] : filter));
}

const OPPOSITES: Readonly<Record<string, string>> = { '==': '!=', '!=': '==', '=@': '!@', '!@': '=@' };

export const canBeNegated = (filter: Filter): boolean =>
  filter.every(({ operator }) => OPPOSITES[operator] !== undefined);

/** The opposite of one filter: that none of its conditions holds. */
export const negated = (filters: readonly Filter[], place: number): readonly Filter[] =>
  filters.flatMap((filter, i) =>
    i === place
      ? filter.map((each): Filter => [{ ...each, operator: OPPOSITES[each.operator] ?? each.operator }])
      : [filter],
  );
