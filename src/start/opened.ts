import type { Repeated } from '../domain/every.ts';

/** What is open: closed as a whole, last opened first. */
export class Opened {
  readonly #ends: (() => unknown)[] = [];
  #closed: Promise<void> | undefined;

  /** Adds a part and returns it. `close` may return a promise. */
  add<Part>(part: Part, close: (part: Part) => unknown): Part {
    this.#ends.push(() => close(part));
    return part;
  }

  /** Starts a job that runs until the end. */
  repeat(job: Pick<Repeated, 'start' | 'end'>): void {
    job.start();
    this.#ends.push(() => job.end());
  }

  /** Closes everything. Can be called again. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}
