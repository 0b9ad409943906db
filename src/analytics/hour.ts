import { HOUR_MS } from '../domain/time.ts';
import type { Span } from './plan.ts';

const SECOND_MS = 1_000;
const SECONDS = HOUR_MS / SECOND_MS;

/** The rows of a key: for each, `at` as ms of the hour and its other numbers. */
export type RowsOfKey = readonly [key: string, numbers: readonly number[]];

/** The rows of an hour, by second. */
export class Hour {
  readonly keys: readonly string[];
  /** Of each row: `at` (epoch ms), the number of its key, and its other numbers. */
  readonly rows: Float64Array;
  readonly #start: number;
  readonly #width: number;
  /** The position of the first row of each second. */
  readonly #seconds = new Uint32Array(SECONDS + 1);
  /** For each second and key, the number of rows before the second; null until all rows of a part are counted. */
  #sums: Uint32Array | null = null;

  constructor(start: number, byKey: readonly RowsOfKey[], others: number) {
    this.#start = start;
    this.#width = others + 2;
    this.keys = byKey.map(([key]) => key);
    const width = others + 1;
    const next = new Uint32Array(SECONDS + 1);
    for (const [, numbers] of byKey) {
      for (let i = 0; i < numbers.length; i += width) {
        const second = 1 + secondOf(numbers[i] as number);
        next[second] = (next[second] as number) + this.#width;
      }
    }
    for (let i = 1; i <= SECONDS; i++) next[i] = (next[i] as number) + (next[i - 1] as number);
    this.#seconds.set(next);
    this.rows = new Float64Array(next[SECONDS] as number);
    for (const [key, [, numbers]] of byKey.entries()) {
      for (let i = 0; i < numbers.length; i += width) {
        const second = secondOf(numbers[i] as number);
        const place = next[second] as number;
        next[second] = place + this.#width;
        this.rows[place] = start + (numbers[i] as number);
        this.rows[place + 1] = key;
        for (let other = 1; other < width; other++)
          this.rows[place + 1 + other] = numbers[i + other] as number;
      }
    }
  }

  /** Calls `visit` with the position of each row in the part. */
  forEach({ start, end }: Span, visit: (at: number) => void): void {
    const last = this.#before(Math.ceil((end - this.#start) / SECOND_MS));
    for (let i = this.#before(secondOf(start - this.#start)); i < last; i += this.#width) {
      const at = this.rows[i] as number;
      if (at >= start && at < end) visit(i);
    }
  }

  /** Counts the rows of a part by key. `isCounted` gets the position of a row; all count by default. */
  countByKey(part: Span, isCounted: (at: number) => boolean = () => true): ReadonlyMap<string, number> {
    const counts = new Float64Array(this.keys.length);
    this.forEach(part, (i) => {
      const key = this.rows[i + 1] as number;
      if (isCounted(i)) counts[key] = (counts[key] as number) + 1;
    });
    return this.#named(counts);
  }

  /** Counts all rows of a part by key. Whole seconds are added up once and kept, so this is for few keys. */
  countAll({ start, end }: Span): ReadonlyMap<string, number> {
    const { length } = this.keys;
    const bySecond = this.#sumsBySecond();
    const first = Math.ceil((start - this.#start) / SECOND_MS);
    const last = Math.max(first, secondOf(end - this.#start));
    const counts = Float64Array.from(
      this.keys,
      (_, key) => (bySecond[last * length + key] as number) - (bySecond[first * length + key] as number),
    );
    const add = (i: number): void => {
      const key = this.rows[i + 1] as number;
      counts[key] = (counts[key] as number) + 1;
    };
    this.forEach({ start, end: Math.min(this.#start + first * SECOND_MS, end) }, add);
    this.forEach({ start: this.#start + last * SECOND_MS, end }, add);
    return this.#named(counts);
  }

  #sumsBySecond(): Uint32Array {
    if (this.#sums !== null) return this.#sums;
    const { length } = this.keys;
    const sums = new Uint32Array((SECONDS + 1) * length);
    for (let i = 0; i < this.rows.length; i += this.#width) {
      const at =
        (secondOf((this.rows[i] as number) - this.#start) + 1) * length + (this.rows[i + 1] as number);
      sums[at] = (sums[at] as number) + 1;
    }
    for (let i = length; i < sums.length; i++) sums[i] = (sums[i] as number) + (sums[i - length] as number);
    this.#sums = sums;
    return sums;
  }

  #named = (counts: Float64Array): ReadonlyMap<string, number> =>
    new Map(
      this.keys.map((name, key) => [name, counts[key] as number] as const).filter(([, count]) => count > 0),
    );

  /** Returns the number of positions before the second. */
  #before = (second: number): number => this.#seconds[Math.min(Math.max(second, 0), SECONDS)] as number;
}

const secondOf = (ms: number): number => Math.floor(ms / SECOND_MS);
