/** How rows of one list are told apart, added up and put in the order of an answer. */
export interface Ranking<Row> {
  keyOf(row: Row): string;
  /** Writes to neither. */
  add(a: Row, b: Row): Row;
  /** Of rows with different keys: never 0. */
  order(a: Row, b: Row): number;
}

/** How many rows are wanted at most, of those that an answer lists. */
export interface First<Row> {
  readonly limit: number;
  isListed(row: Row): boolean;
}

const ALL: First<unknown> = { limit: Number.MAX_SAFE_INTEGER, isListed: () => true };
/** The first `limit` of all rows. */
export const first = (limit: number): First<unknown> => ({ ...ALL, limit });

/** Rows in the order of an answer, each key once: made once, read often. */
export class Ranked<Row> {
  readonly #ranking: Ranking<Row>;
  readonly #rows: readonly Row[];
  #numbers: ReadonlyMap<string, number> | undefined;
  #including: { readonly ends: readonly Row[]; readonly made: Ranked<Row> } | undefined;

  /** The rows are in the order of `ranking`: what the engine sorts need not be sorted again. */
  constructor(rows: readonly Row[], ranking: Ranking<Row>) {
    this.#ranking = ranking;
    this.#rows = rows;
  }

  /** The first of these rows and `more`, whose keys may come again, added up and in order. */
  with(more: readonly Row[], { limit, isListed }: First<Row> = ALL): Row[] {
    const { order } = this.#ranking;
    const { sums, isReplaced } = this.#added(more);
    const sorted = sums.sort(order);
    const found: Row[] = [];
    let next = 0;
    const putIn = (row: Row) => {
      if (isListed(row) && found.length < limit) found.push(row);
    };
    for (const [number, row] of this.#rows.entries()) {
      if (found.length >= limit) break;
      if (isReplaced(number)) continue;
      for (let other = sorted[next]; other !== undefined && order(other, row) < 0; other = sorted[++next]) {
        putIn(other);
      }
      putIn(row);
    }
    for (; next < sorted.length; next++) putIn(sorted[next] as Row);
    return found;
  }

  /** The same with `ends` and `more`. What is made of `ends` is kept where they are: the same array comes again. */
  withBoth(ends: readonly Row[], more: readonly Row[], areKept: boolean, wanted?: First<Row>): Row[] {
    if (ends.length === 0) return this.with(more, wanted);
    if (!areKept) return this.with([...ends, ...more], wanted);
    if (this.#including?.ends !== ends) {
      this.#including = { ends, made: new Ranked(this.with(ends), this.#ranking) };
    }
    return this.#including.made.with(more, wanted);
  }

  /** The sums of `more` with the rows of the same keys, and which rows these are. */
  #added(more: readonly Row[]): { readonly sums: Row[]; isReplaced(number: number): boolean } {
    const sums: Row[] = [];
    if (more.length === 0) return { sums, isReplaced: () => false };
    const { keyOf, add } = this.#ranking;
    this.#numbers ??= new Map(this.#rows.map((row, number) => [keyOf(row), number]));
    // Where a row's sum is, from 1 on: thousands of keys are looked up once, and put nowhere by name that are known.
    const places = new Int32Array(this.#rows.length);
    const others = new Map<string, number>();
    for (const row of more) {
      const key = keyOf(row);
      const number = this.#numbers.get(key);
      const place = number === undefined ? others.get(key) : places[number];
      if (place !== undefined && place > 0) {
        sums[place - 1] = add(sums[place - 1] as Row, row);
      } else if (number === undefined) {
        others.set(key, sums.push(row));
      } else {
        places[number] = sums.push(add(this.#rows[number] as Row, row));
      }
    }
    return { sums, isReplaced: (number) => places[number] !== 0 };
  }
}

/** Rows by the list that they belong to, each in the order that it has. */
export function byList<Row>(
  rows: readonly Row[],
  listOf: (row: Row) => string,
): ReadonlyMap<string, readonly Row[]> {
  const lists = new Map<string, Row[]>();
  for (const row of rows) {
    const list = listOf(row);
    const known = lists.get(list);
    if (known === undefined) lists.set(list, [row]);
    else known.push(row);
  }
  return lists;
}

/** Rows of ragged ends by list, and whether they are kept. */
export interface Ends<Row> {
  readonly lists: ReadonlyMap<string, readonly Row[]>;
  readonly areKept: boolean;
}

/** Lists of which the sealed hours are kept in order: rows of ends that are kept are put in once, other rows for each question. */
export const rankedLists =
  <Row>(
    sealed: ReadonlyMap<string, Ranked<Row>>,
    ends: Ends<Row>,
    tail: ReadonlyMap<string, readonly Row[]>,
    ranking: Ranking<Row>,
  ) =>
  (list: string, wanted?: First<Row>): Row[] =>
    (sealed.get(list) ?? new Ranked<Row>([], ranking)).withBoth(
      ends.lists.get(list) ?? [],
      tail.get(list) ?? [],
      ends.areKept,
      wanted,
    );
