/**
 * Counts this process's writes per app. An answer may be cached while no write has changed its data. Only
 * useful if this process is the only writer.
 */
export class Writes {
  #all = 0;
  #allBusy = 0;
  readonly #done = new Map<string, number>();
  readonly #busy = new Map<string, number>();

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
        this.#done.set(app, (this.#done.get(app) ?? 0) + 1);
      }
    };
  }

  /** A number that changes with every write about the app. Null during a write. */
  stamp(app: string): number | null {
    if (this.#allBusy > 0 || this.#busy.has(app)) return null;
    return this.#all + (this.#done.get(app) ?? 0);
  }
}
