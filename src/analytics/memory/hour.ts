import type { Span } from '../range/plan.ts';

/** The columns of an hour's rows, in any order. */
export interface Columns {
  /** The different keys of the rows. */
  readonly keys: readonly string[];
  /** Of each row: its instant as ms of the hour, and the number of its key, from 1. */
  readonly times: readonly number[];
  readonly keyNumbers: readonly number[];
  /** The other numbers of the rows, by column. */
  readonly others: readonly (readonly number[])[];
  /** Rows of a key with the same number repeat each other. Empty if none do. */
  readonly repeats: readonly number[];
}

/** The rows of an hour in order of time. */
export class Hour {
  readonly keys: readonly string[];
  /** Of each row: its instant (epoch ms), and the position of its key. */
  readonly times: Float64Array;
  readonly keyOf: Uint32Array;
  readonly others: readonly Float64Array[];
  /** Of each row: the instant of the row before that it repeats; -1 for none. */
  readonly before: Float64Array;
  /** The instants of each key's rows; null until all rows of a part are counted. */
  #timesByKey: readonly Float64Array[] | null = null;

  constructor(start: number, { keys, times, keyNumbers, others, repeats }: Columns) {
    const order = orderOf(times);
    const { length } = order;
    this.keys = keys;
    this.times = sorted(times, order);
    this.keyOf = new Uint32Array(length);
    this.others = others.map((column) => sorted(column, order));
    for (let row = 0; row < length; row++) {
      this.times[row] = start + (this.times[row] as number);
      this.keyOf[row] = (keyNumbers[order[row] as number] as number) - 1;
    }
    this.before = new Float64Array(repeats.length);
    const last = new Map<number, number>();
    for (let row = 0; row < repeats.length; row++) {
      const same = (repeats[order[row] as number] as number) * keys.length + (this.keyOf[row] as number);
      this.before[row] = last.get(same) ?? -1;
      last.set(same, this.times[row] as number);
    }
  }

  /** The number of numbers in it. */
  get numbers(): number {
    return this.times.length * (2 + this.others.length) + this.before.length;
  }

  /** Returns the position of the first row of a part, and of the first one after it. */
  rowsIn({ start, end }: Span): readonly [first: number, end: number] {
    return [countBefore(this.times, start), countBefore(this.times, end)];
  }

  /** Counts the rows of a part by key. `isCounted` gets the position of a row; all count by default. */
  countByKey(part: Span, isCounted: (row: number) => boolean = () => true): ReadonlyMap<string, number> {
    const counts = new Float64Array(this.keys.length);
    const [first, end] = this.rowsIn(part);
    for (let row = first; row < end; row++) {
      const key = this.keyOf[row] as number;
      if (isCounted(row)) counts[key] = (counts[key] as number) + 1;
    }
    return this.#named(counts);
  }

  /** Counts all rows of a part by key, without visiting them. For few keys. */
  countAll({ start, end }: Span): ReadonlyMap<string, number> {
    this.#timesByKey ??= this.#split();
    return this.#named(this.#timesByKey.map((times) => countBefore(times, end) - countBefore(times, start)));
  }

  #split(): readonly Float64Array[] {
    const counts = new Uint32Array(this.keys.length);
    for (const key of this.keyOf) counts[key] = (counts[key] as number) + 1;
    const split = this.keys.map((_, key) => new Float64Array(counts[key] as number));
    for (let row = this.times.length - 1; row >= 0; row--) {
      const key = this.keyOf[row] as number;
      const place = (counts[key] as number) - 1;
      counts[key] = place;
      (split[key] as Float64Array)[place] = this.times[row] as number;
    }
    return split;
  }

  #named = (counts: ArrayLike<number>): ReadonlyMap<string, number> =>
    new Map(
      this.keys.map((name, key) => [name, counts[key] as number] as const).filter(([, count]) => count > 0),
    );
}

/* Loops over typed arrays: with `from` and a function, this takes ten times as long. */

/** An instant of an hour has two digits of so many bits. */
const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/** Returns the positions of the instants (ms of the hour) in order, sorted by one digit after the other. */
function orderOf(times: readonly number[]): Uint32Array {
  let order = new Uint32Array(times.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  for (const shift of [0, DIGIT_BITS]) {
    const digitOf = (i: number): number => ((times[i] as number) >>> shift) % DIGITS;
    const places = new Uint32Array(DIGITS + 1);
    for (const i of order) places[digitOf(i) + 1] = (places[digitOf(i) + 1] as number) + 1;
    for (let digit = 0; digit < DIGITS; digit++)
      places[digit + 1] = (places[digit + 1] as number) + (places[digit] as number);
    const next = new Uint32Array(order.length);
    for (const i of order) {
      const place = places[digitOf(i)] as number;
      places[digitOf(i)] = place + 1;
      next[place] = i;
    }
    order = next;
  }
  return order;
}

function sorted(column: readonly number[], order: Uint32Array): Float64Array {
  const values = new Float64Array(order.length);
  for (let row = 0; row < order.length; row++) values[row] = column[order[row] as number] as number;
  return values;
}

/** Returns how many of the instants, which are in order, lie before `at`. */
function countBefore(times: Float64Array, at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
