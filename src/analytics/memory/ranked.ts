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

  /** Adds `more`, which may contain the same keys. */
  with(more: readonly Row[]): RankedSums<Row> {
    const sums: Row[] = [];
    if (more.length === 0) return new RankedSums(this.#ranking, this.#rows, () => false, sums);
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
    return new RankedSums(this.#ranking, this.#rows, (number) => places[number] !== 0, sums);
  }
}

/** Ranked rows with others added to them. */
export class RankedSums<Row> {
  readonly #ranking: Ranking<Row>;
  readonly #rows: readonly Row[];
  readonly #isReplaced: (number: number) => boolean;
  readonly #sums: readonly Row[];

  /** `isReplaced` tells which of the rows, by number, have a sum. */
  constructor(
    ranking: Ranking<Row>,
    rows: readonly Row[],
    isReplaced: (number: number) => boolean,
    sums: readonly Row[],
  ) {
    this.#ranking = ranking;
    this.#rows = rows;
    this.#isReplaced = isReplaced;
    this.#sums = sums;
  }

  /** Returns the first rows that are listed, in order. */
  first({ limit, isListed }: First<Row>): Row[] {
    const { order } = this.#ranking;
    const sums = firstOf(this.#sums.filter(isListed), limit, order);
    const found: Row[] = [];
    let next = 0;
    for (let number = 0; number < this.#rows.length && found.length < limit; number++) {
      const row = this.#rows[number] as Row;
      if (this.#isReplaced(number) || !isListed(row)) continue;
      for (let sum = sums[next]; sum !== undefined && order(sum, row) < 0; sum = sums[++next])
        found.push(sum);
      found.push(row);
    }
    for (; next < sums.length; next++) found.push(sums[next] as Row);
    return found.slice(0, limit);
  }

  /** Adds up a number of all rows. */
  total(numberOf: (row: Row) => number): number {
    let total = 0;
    for (const sum of this.#sums) total += numberOf(sum);
    for (let number = 0; number < this.#rows.length; number++) {
      if (!this.#isReplaced(number)) total += numberOf(this.#rows[number] as Row);
    }
    return total;
  }
}

/** Up to so many rows are found without sorting all. */
const FEW = 100;

/** Returns the first rows in order. */
function firstOf<Row>(rows: Row[], limit: number, order: Ranking<Row>['order']): Row[] {
  if (limit > FEW) return rows.sort(order);
  const found: Row[] = [];
  for (const row of rows) {
    const last = found[limit - 1];
    if (last !== undefined && order(row, last) > 0) continue;
    let at = found.length;
    while (at > 0 && order(row, found[at - 1] as Row) < 0) at--;
    found.splice(at, 0, row);
    if (found.length > limit) found.pop();
  }
  return found;
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
