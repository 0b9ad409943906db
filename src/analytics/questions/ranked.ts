/** How rows are told apart, added up and put in the order of an answer. */
export interface Ranking<Row> {
  keyOf(row: Row): string;
  /** Writes to neither. */
  add(a: Row, b: Row): Row;
  /** Of rows with different keys: never 0. */
  order(a: Row, b: Row): number;
}

/** Rows in the order of an answer, each key once: made once, read often. */
export class Ranked<Row> {
  readonly #ranking: Ranking<Row>;
  readonly #rows: readonly Row[];
  readonly #byKey: ReadonlyMap<string, Row>;

  constructor(rows: readonly Row[], ranking: Ranking<Row>) {
    this.#ranking = ranking;
    this.#rows = [...rows].sort((a, b) => ranking.order(a, b));
    this.#byKey = new Map(rows.map((row) => [ranking.keyOf(row), row]));
  }

  /** These rows and `more`, whose keys may come again, added up and in order: as much work as there is in `more`, and is taken. */
  *with(more: readonly Row[]): Generator<Row, void> {
    const { keyOf, order } = this.#ranking;
    const changed = this.#added(more);
    const sorted = [...changed.values()].sort(order);
    let next = 0;
    for (const row of this.#rows) {
      if (changed.size > 0 && changed.has(keyOf(row))) continue;
      for (let other = sorted[next]; other !== undefined && order(other, row) < 0; other = sorted[++next]) {
        yield other;
      }
      yield row;
    }
    yield* sorted.slice(next);
  }

  #added(more: readonly Row[]): Map<string, Row> {
    const { keyOf, add } = this.#ranking;
    const added = new Map<string, Row>();
    for (const row of more) {
      const key = keyOf(row);
      const known = added.get(key) ?? this.#byKey.get(key);
      added.set(key, known === undefined ? row : add(known, row));
    }
    return added;
  }
}

/** The first `count`, and no work for what comes after. */
export function* take<T>(count: number, from: Iterable<T>): Generator<T, void> {
  let left = count;
  for (const each of from) {
    if (left-- === 0) return;
    yield each;
  }
}
