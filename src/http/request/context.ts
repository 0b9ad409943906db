import type { Request, Response } from 'express';
import type { Principal } from '../../metadata/types.ts';

declare module 'http' {
  interface IncomingMessage {
    /** Names the request in logs and errors. */
    id: string;
  }
  interface ServerResponse {
    /** The error of a 5xx, for the log. */
    err?: Error;
  }
}

/** The data that the steps of a request have found so far; in `res.locals`. */
interface Context {
  principal?: Principal;
  /** The endpoint's path, set once it is known: the log never shows the caller's own text. */
  route?: string;
  timing?: Timing;
  /** True for an answer that goes on until the caller leaves. */
  isStream?: boolean;
}

/** The stages of a request: authentication, rate limit, the plan of the question, and the answer itself. */
export type Stage = 'auth' | 'limit' | 'plan' | 'store';

/** Measures the stages of a request. */
export class Timing {
  #last = performance.now();
  #header = '';
  #rowsRead = 0;

  /** Ends a stage: the time since the previous one counts as its own. */
  end(stage: Stage): void {
    const now = performance.now();
    this.#header += `${this.#header === '' ? '' : ', '}${stage};dur=${Math.round((now - this.#last) * 100) / 100}`;
    if (this.#rowsRead > 0) this.#header += `;desc="${this.#rowsRead} rows read"`;
    this.#rowsRead = 0;
    this.#last = now;
  }

  /** Adds rows that the current stage has read in the store. */
  read(rows: number): void {
    this.#rowsRead += rows;
  }

  /** The value of Server-Timing, in milliseconds. */
  get header(): string {
    return this.#header;
  }
}

export const contextOf = (res: Response): Context => res.locals;

/** The value of Server-Timing; '' if the request is not timed. */
export const serverTiming = (res: Response): string => contextOf(res).timing?.header ?? '';

/** Returns path and query of the request as sent. The path is compared byte for byte. */
export function targetOf(req: Request): { readonly path: string; readonly search: string } {
  const target = req.originalUrl;
  const end = target.indexOf('?');
  return end === -1
    ? { path: target, search: '' }
    : { path: target.slice(0, end), search: target.slice(end + 1) };
}
