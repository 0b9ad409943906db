import type { Response } from 'express';
import type { Caller } from '../../domain/caller.ts';
import { contextOf } from './context.ts';

const GONE = AbortSignal.abort();

/**
 * The caller that waits for the answer. Most answers come from memory, so the signal is made only if it is
 * needed.
 */
export class Waiting implements Caller {
  readonly key: string;
  #res: Response | null;
  #signal: AbortSignal | undefined;

  constructor(key: string, res: Response) {
    this.key = key;
    this.#res = res;
  }

  onRowsRead(rows: number): void {
    if (this.#res !== null) contextOf(this.#res).timing?.read(rows);
  }

  /**
   * Lets the response go once the answer is given. All that its work started holds on to this caller, such as the
   * timer of the idle connection.
   */
  end(): void {
    this.#res = null;
  }

  /** Aborts if the connection closes before the answer is written. */
  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal;
    const res = this.#res;
    if (res === null) return GONE;
    const gone = new AbortController();
    if (res.destroyed && !res.writableFinished) gone.abort();
    res.once('close', () => {
      if (!res.writableFinished) gone.abort();
    });
    this.#signal = gone.signal;
    return gone.signal;
  }
}
