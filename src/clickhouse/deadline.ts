/** The store's own time limit comes first, with a reason; this is for a store that says nothing. */
const GRACE_MS = 1_000;

/** The end of a statement: the latest of its own time, or the moment when nobody waits for it any more. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #caller: AbortSignal | undefined;
  readonly #abort = (): void => this.#controller.abort();

  constructor(seconds: number, caller?: AbortSignal) {
    this.#caller = caller;
    this.#timer = setTimeout(this.#abort, seconds * 1000 + GRACE_MS);
    caller?.addEventListener('abort', this.#abort, { once: true });
    if (caller?.aborted) this.#abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The statement has ended by itself. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#abort);
  }
}
