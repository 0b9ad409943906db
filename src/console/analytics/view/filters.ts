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
  | 'error'
  | 'visitorType';

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

/** Whether a text is no segment. It stands as it is, so that the service says why: without it, all sessions would count. */
export const isWrong = (segment: string): boolean => segment !== '' && filtersOf(segment).length === 0;

/** The segment that an address holds, written as the page writes it. */
export const segmentIn = (address: string): string =>
  isWrong(address) ? address : segmentOf(filtersOf(address));

export const segmentOf = (filters: readonly Filter[]): string =>
  filters
    .map((filter) => filter.map(({ by, operator, value }) => `${by}${operator}${encoded(value)}`).join(','))
    .join(';');

/** Of these, the absent value means that a session has no such event, which is not what a row without a name counts. */
const OF_EVENTS: readonly FilterBy[] = ['page', 'event', 'target', 'error'];

/** The value that a name in a list filters by: empty for an absent one, and null if the row cannot be filtered by. */
export function filterValue(by: FilterBy, name: string | null): string | null {
  // The lists write an absent value so.
  if (name !== null && name !== '' && name !== '(none)') return name;
  return OF_EVENTS.includes(by) ? null : '';
}

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

/** The conditions of a filter, those of one kind and operator together. */
export function alike(filter: Filter): readonly (readonly [Condition, ...Condition[]])[] {
  const groups = new Map<string, [Condition, ...Condition[]]>();
  for (const each of filter) {
    const key = `${each.by}${each.operator}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return [...groups.values()];
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
