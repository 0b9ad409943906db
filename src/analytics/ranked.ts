/** How rows of a list are identified, added and sorted. */
export interface Ranking<Row> {
  keyOf(row: Row): string;
  /** Must not modify its arguments. */
  add(a: Row, b: Row): Row;
  /** Never 0 for rows with different keys. */
  order(a: Row, b: Row): number;
}

/** How many rows are wanted, of those that the answer lists. */
export interface First<Row> {
  readonly limit: number;
  isListed(row: Row): boolean;
}

const ALL: First<unknown> = { limit: Number.MAX_SAFE_INTEGER, isListed: () => true };
/** The first `limit` of all rows. */
export const first = (limit: number): First<unknown> => ({ ...ALL, limit });

/** Rows in the order of an answer, one for each key. Created once and read often. */
export class Ranked<Row> {
  readonly #ranking: Ranking<Row>;
  readonly #rows: readonly Row[];
  #numbers: ReadonlyMap<string, number> | undefined;

  /** `rows` must be in the order of `ranking`: the engine has sorted them. */
  constructor(rows: readonly Row[], ranking: Ranking<Row>) {
    this.#ranking = ranking;
    this.#rows = rows;
  }

  get size(): number {
    return this.#rows.length;
  }

  /** Adds `more`, which may contain the same keys, and returns the first rows in order. */
  with(more: readonly Row[], { limit, isListed }: First<Row> = ALL): Row[] {
    const { order } = this.#ranking;
    const { sums, isReplaced } = this.#added(more);
    const sorted = sums.sort(order);
    const found: Row[] = [];
    let next = 0;
    const putIn = (row: Row) => {
      if (isListed(row) && found.length < limit) found.push(row);
    };
    for (let number = 0; number < this.#rows.length && found.length < limit; number++) {
      if (isReplaced(number)) continue;
      const row = this.#rows[number] as Row;
      for (let other = sorted[next]; other !== undefined && order(other, row) < 0; other = sorted[++next]) {
        putIn(other);
      }
      putIn(row);
    }
    for (; next < sorted.length; next++) putIn(sorted[next] as Row);
    return found;
  }

  /** Sums `more` with the rows of the same keys; `isReplaced` tells which rows have such a sum. */
  #added(more: readonly Row[]): { readonly sums: Row[]; isReplaced(number: number): boolean } {
    const sums: Row[] = [];
    if (more.length === 0) return { sums, isReplaced: () => false };
    const { keyOf, add } = this.#ranking;
    this.#numbers ??= new Map(this.#rows.map((row, number) => [keyOf(row), number]));
    // The position of a row's sum plus one. An array by number: for thousands of keys, a second map by name
    // is slower.
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

/** Groups rows by list, without changing their order. */
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
