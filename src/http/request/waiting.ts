import type { Response } from 'express';
import type { Caller } from '../../domain/caller.ts';
import { contextOf } from './context.ts';

/**
 * The caller that waits for the answer. Most answers come from memory, so the signal is made only if it is
 * needed.
 */
export class Waiting implements Caller {
  readonly key: string;
  readonly #res: Response;
  #signal: AbortSignal | undefined;

  constructor(key: string, res: Response) {
    this.key = key;
    this.#res = res;
  }

  onRowsRead(rows: number): void {
    contextOf(this.#res).timing?.read(rows);
  }

  /** Aborts if the connection closes before the answer is written. */
  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal;
    const gone = new AbortController();
    const res = this.#res;
    if (res.destroyed && !res.writableFinished) gone.abort();
    res.once('close', () => {
      if (!res.writableFinished) gone.abort();
    });
    this.#signal = gone.signal;
    return gone.signal;
  }
}
