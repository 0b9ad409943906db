/** Apps that are counted apart. Beyond that all are counted anew, which only makes cached answers useless once. */
const MOST_COUNTED = 50_000;

/**
 * Counts this process's writes per app. An answer may be cached while no write has changed its data. Only
 * useful if this process is the only writer.
 */
export class Writes {
  #all = 0;
  #allBusy = 0;
  readonly #done = new Map<string, number>();
  readonly #busy = new Map<string, number>();
  readonly #mostCounted: number;
  /** The highest of the numbers in `#done`. */
  #highest = 0;

  constructor(mostCounted = MOST_COUNTED) {
    this.#mostCounted = mostCounted;
  }

  /**
   * Begins a write about `apps` (absent: all apps). Call the result when the write has ended, also after a
   * failure.
   */
  begin(apps?: readonly string[]): () => void {
    if (apps === undefined) {
      this.#allBusy += 1;
      return () => {
        this.#allBusy -= 1;
        this.#all += 1;
      };
    }
    for (const app of apps) this.#busy.set(app, (this.#busy.get(app) ?? 0) + 1);
    return () => {
      for (const app of apps) {
        const left = (this.#busy.get(app) ?? 1) - 1;
        if (left === 0) this.#busy.delete(app);
        else this.#busy.set(app, left);
        this.#count(app);
      }
    };
  }

  /** A number that changes with every write about the app. Null during a write. */
  stamp(app: string): number | null {
    return this.#allBusy > 0 || this.#busy.has(app) ? null : this.#all + (this.#done.get(app) ?? 0);
  }

  #count(app: string): void {
    const done = (this.#done.get(app) ?? 0) + 1;
    this.#done.set(app, done);
    this.#highest = Math.max(this.#highest, done);
    if (this.#done.size <= this.#mostCounted) return;
    // Higher than every number that was given before.
    this.#all += this.#highest + 1;
    this.#highest = 0;
    this.#done.clear();
  }
}
