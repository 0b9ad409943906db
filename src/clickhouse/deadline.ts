/**
 * The store's own time limit comes first and gives a reason. This is for a store that does not answer at all.
 */
const GRACE_MS = 1_000;

/** The end of a statement: its time limit, or earlier if nobody waits for it any more. */
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

  /** Call it when the statement has ended by itself. */
  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#abort);
  }
}
