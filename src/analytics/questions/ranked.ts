/** How rows of one list are told apart, added up and put in the order of an answer. */
export interface Ranking<Row> {
  keyOf(row: Row): string;
  /** Writes to neither. */
  add(a: Row, b: Row): Row;
  /** Of rows with different keys: never 0. */
  order(a: Row, b: Row): number;
}

/** Rows in the order of an answer, each key once: made once, read often. */
export class Ranked<Row extends object> {
  readonly #ranking: Ranking<Row>;
  readonly #rows: readonly Row[];
  #byKey: ReadonlyMap<string, Row> | undefined;
  #including: { readonly ends: readonly Row[]; readonly made: Ranked<Row> } | undefined;

  /** The rows are in the order of `ranking`: what the engine sorts need not be sorted again. */
  constructor(rows: readonly Row[], ranking: Ranking<Row>) {
    this.#ranking = ranking;
    this.#rows = rows;
  }

  /** These rows and `more`, whose keys may come again, added up and in order: as much work as there is in `more`, and is taken. */
  *with(more: readonly Row[]): Generator<Row, void> {
    const { order } = this.#ranking;
    const { sums, replaced } = this.#added(more);
    const sorted = sums.sort(order);
    let next = 0;
    for (const row of this.#rows) {
      if (replaced.has(row)) continue;
      for (let other = sorted[next]; other !== undefined && order(other, row) < 0; other = sorted[++next]) {
        yield other;
      }
      yield row;
    }
    for (; next < sorted.length; next++) yield sorted[next] as Row;
  }

  /** The same with `ends` and `more`. What is made of `ends` is kept where they are: the same array comes again. */
  withBoth(ends: readonly Row[], more: readonly Row[], areKept: boolean): Generator<Row, void> {
    if (ends.length === 0) return this.with(more);
    if (!areKept) return this.with([...ends, ...more]);
    if (this.#including?.ends !== ends) {
      this.#including = { ends, made: new Ranked([...this.with(ends)], this.#ranking) };
    }
    return this.#including.made.with(more);
  }

  /** The sums of `more` with the rows of the same keys, and these rows. */
  #added(more: readonly Row[]): { readonly sums: Row[]; readonly replaced: ReadonlySet<Row> } {
    const replaced = new Set<Row>();
    const sums = new Map<string, Row>();
    if (more.length === 0) return { sums: [], replaced };
    const { keyOf, add } = this.#ranking;
    this.#byKey ??= new Map(this.#rows.map((row) => [keyOf(row), row]));
    for (const row of more) {
      const key = keyOf(row);
      const sum = sums.get(key);
      const kept = sum === undefined ? this.#byKey.get(key) : undefined;
      if (kept !== undefined) replaced.add(kept);
      const known = sum ?? kept;
      sums.set(key, known === undefined ? row : add(known, row));
    }
    return { sums: [...sums.values()], replaced };
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
  <Row extends object>(
    sealed: ReadonlyMap<string, Ranked<Row>>,
    ends: Ends<Row>,
    tail: ReadonlyMap<string, readonly Row[]>,
    ranking: Ranking<Row>,
  ) =>
  (list: string): Generator<Row, void> =>
    (sealed.get(list) ?? new Ranked<Row>([], ranking)).withBoth(
      ends.lists.get(list) ?? [],
      tail.get(list) ?? [],
      ends.areKept,
    );

/** The first `count`, and no work for what comes after. */
export function* take<T>(count: number, from: Iterable<T>): Generator<T, void> {
  let left = count;
  if (left === 0) return;
  for (const each of from) {
    yield each;
    if (--left === 0) return;
  }
}
