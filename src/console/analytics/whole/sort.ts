import type { List } from '../lists.ts';
import type { ListedRow } from '../panels/list-csv.ts';

/** An order of rows by one of their columns. */
export interface Order {
  readonly column: string;
  readonly isDescending: boolean;
}

/** Reads an order as the address has it: `-visitorsListed`. Null for that of the answer. */
export function orderOf(sort: string, columns: readonly string[]): Order | null {
  const isDescending = sort.startsWith('-');
  const column = isDescending ? sort.slice(1) : sort;
  return columns.includes(column) ? { column, isDescending } : null;
}

/** The columns of a list by which it can be sorted: the parts of its names, its figures, and those of a comparison. */
export const columnsOf = (
  { kind, parts, figures }: Pick<List, 'kind' | 'parts' | 'figures'>,
  isCompared: boolean,
): readonly string[] => [
  ...(kind === 'place' && parts.length > 1 ? ['place'] : parts),
  ...figures,
  ...(isCompared ? ['before', 'change'] : []),
];

/** What a click on the head of a column does: numbers begin with the largest, names with the first; then the opposite. */
export function nextOrder(column: string, order: Order | null, isName: boolean): string {
  const isDescending = order?.column === column ? !order.isDescending : !isName;
  return isDescending ? `-${column}` : column;
}

type Key = number | string | null;

/** Sorts rows. What is not known, or has no name, is last in both directions; equal rows stay in the order of the answer. */
export function sorted(
  rows: readonly ListedRow[],
  list: Pick<List, 'kind' | 'parts' | 'figures'>,
  order: Order | null,
  words: { readonly name: (row: ListedRow, part: number) => string | null; readonly locale: string },
): readonly ListedRow[] {
  if (order === null) return rows;
  const { column, isDescending } = order;
  const figure = (list.figures as readonly string[]).indexOf(column);
  const part = Math.max(0, list.parts.indexOf(column));
  const keyOf = (row: ListedRow): Key => {
    if (figure >= 0) return row.values[figure] ?? null;
    const [current = 0] = row.values;
    const before = row.before?.[0] ?? null;
    if (column === 'before') return before;
    if (column === 'change') return before === null ? null : changeKey(current, before);
    // A place has the name of its smallest part that is known.
    if (column === 'place')
      return list.parts.map((_, i) => words.name(row, i)).find((each) => each !== null) ?? null;
    return words.name(row, part);
  };
  const { compare } = new Intl.Collator(words.locale, { numeric: true });
  const keys = new Map(rows.map((row) => [row, keyOf(row)]));
  const direction = isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [keys.get(one) ?? null, keys.get(other) ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return (
      direction * (typeof a === 'number' && typeof b === 'number' ? a - b : compare(String(a), String(b)))
    );
  });
}

/** New rows are above all others. */
const changeKey = (current: number, before: number): number =>
  before === 0 ? (current === 0 ? 0 : Number.MAX_VALUE) : (current - before) / before;
