/** The times of a file's first line and of its last one, in epoch ms. Null: no line has a time. */
export type Span = readonly [first: number, last: number] | null;

type Place = 'begin' | 'middle' | 'end' | 'all';

interface Count {
  /** The most that one file holds, by the place in that file. */
  readonly most: Record<Place, number>;
  requests: number;
}

/** More different lines of one second are not compared: the memory is bounded. */
const MOST_LINES = 200_000;

/**
 * Tells lines that several files hold from those that only look alike. Copies of a log, whole or in part, hold the same
 * lines: the file with the most of them counts. But where one log ends and the next one begins, within a second, equal
 * lines are different requests, and they add up.
 */
export class Overlap {
  readonly #spans: readonly Span[];
  #at = Number.NaN;
  readonly #counts = new Map<number, Count>();
  readonly #ofFile = new Map<string, number>();

  constructor(spans: readonly Span[]) {
    this.#spans = spans;
  }

  /** Returns whether a line is another request than all before it. Lines come in the order of time. `line` is a hash. */
  isNew(at: number, line: number, input: number): boolean {
    if (at !== this.#at) {
      this.#at = at;
      this.#counts.clear();
      this.#ofFile.clear();
    }
    if (this.#ofFile.size >= MOST_LINES) return true;
    const count = this.#counts.get(line) ?? { most: { begin: 0, middle: 0, end: 0, all: 0 }, requests: 0 };
    this.#counts.set(line, count);
    const key = `${line} ${input}`;
    const own = (this.#ofFile.get(key) ?? 0) + 1;
    this.#ofFile.set(key, own);
    const { most } = count;
    const place = placeOf(at, this.#spans[input] ?? null);
    most[place] = Math.max(most[place], own);
    const requests = Math.max(most.middle, most.end + most.all + most.begin);
    if (requests === count.requests) return false;
    count.requests = requests;
    return true;
  }
}

function placeOf(at: number, span: Span): Place {
  if (span === null) return 'middle';
  const [isBegin, isEnd] = [at <= span[0], at >= span[1]];
  if (isBegin && isEnd) return 'all';
  if (isBegin) return 'begin';
  return isEnd ? 'end' : 'middle';
}
