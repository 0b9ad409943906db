import type { Request, Response } from 'express';
import type { Principal } from '../../metadata/types.ts';

declare module 'http' {
  interface IncomingMessage {
    /** Names the request in logs and errors. */
    id: string;
  }
  interface ServerResponse {
    /** What went wrong on our side; for the log. */
    err?: Error;
  }
}

/** What the way of a request has found out so far; kept in `res.locals`. */
interface Context {
  principal?: Principal;
  /** The endpoint's path, once it is known to be one: the log never shows what the caller wrote. */
  route?: string;
  timing?: Timing;
}

/** The parts of a request's way: who asks, how often, what exactly is asked and of which data, the answer itself. */
export type Stage = 'auth' | 'limit' | 'plan' | 'store';

/** How long each part took. */
export class Timing {
  #last = performance.now();
  #header = '';
  #rowsRead = 0;

  /** What has passed since the part before ended belongs to `stage`. */
  end(stage: Stage): void {
    const now = performance.now();
    this.#header += `${this.#header === '' ? '' : ', '}${stage};dur=${Math.round((now - this.#last) * 100) / 100}`;
    if (this.#rowsRead > 0) this.#header += `;desc="${this.#rowsRead} rows read"`;
    this.#rowsRead = 0;
    this.#last = now;
  }

  /** The part under way has read so many rows in the store. */
  read(rows: number): void {
    this.#rowsRead += rows;
  }

  /** As Server-Timing has it, in milliseconds. */
  get header(): string {
    return this.#header;
  }
}

export const contextOf = (res: Response): Context => res.locals;

/** Empty where nothing is timed. */
export const serverTiming = (res: Response): string => contextOf(res).timing?.header ?? '';

/** Path and query of the request as they were sent; the path is compared byte for byte. */
export function targetOf(req: Request): { readonly path: string; readonly search: string } {
  const target = req.originalUrl;
  const end = target.indexOf('?');
  return end === -1
    ? { path: target, search: '' }
    : { path: target.slice(0, end), search: target.slice(end + 1) };
}
