/**
 * What this process writes about apps: lets answers be kept while nothing that they rest on was written. Only of use
 * where this process is the only writer.
 */
export class Writes {
  #all = 0;
  #allBusy = 0;
  readonly #done = new Map<string, number>();
  readonly #busy = new Map<string, number>();

  /** A write about `apps` (all where absent) begins; call the result when it has ended, however it ended. */
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

  /** The same number again means: nothing was written about the app between. Null while something is. */
  stamp(app: string): number | null {
    if (this.#allBusy > 0 || this.#busy.has(app)) return null;
    return this.#all + (this.#done.get(app) ?? 0);
  }
}
