import type { Request, Response } from 'express';
import type { AppId } from '../../domain/ids.ts';
import type { Principal } from '../../metadata/types.ts';

declare module 'http' {
  interface IncomingMessage {
    /** Names the request in logs and errors. */
    id: string;
    /** The client's address (see `addressOf`), or `unknown`. */
    address: string;
    /** True if the client uses HTTPS (see `cameByHttps`). */
    isSecure: boolean;
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
  /** The app that the request is about, if the caller has named one in a valid form. */
  app?: AppId;
}

/** The steps of a request: its body, authentication, rate limit, the plan of the question, the store, and the answer itself. */
export type Step = 'body' | 'auth' | 'limit' | 'plan' | 'store' | 'answer';

/** Measures the steps of a request. */
export class Timing {
  readonly #isShown: boolean;
  readonly #ended: { readonly step: Step; readonly ms: number; readonly rowsRead: number }[] = [];
  #current: Step;
  #since = performance.now();
  #rowsRead = 0;

  /** `isShown`: the caller gets it as Server-Timing. */
  constructor(first: Step, { isShown }: { readonly isShown: boolean }) {
    this.#current = first;
    this.#isShown = isShown;
  }

  /** Ends the current step and begins another one. */
  next(step: Step): void {
    const now = performance.now();
    const ms = Math.round((now - this.#since) * 100) / 100;
    this.#ended.push({ step: this.#current, ms, rowsRead: this.#rowsRead });
    this.#current = step;
    this.#rowsRead = 0;
    this.#since = now;
  }

  /** Adds rows that the current step has read in the store. */
  read(rows: number): void {
    this.#rowsRead += rows;
  }

  get current(): Step {
    return this.#current;
  }

  get longest(): Step {
    let [longest, most] = [this.#current, performance.now() - this.#since];
    for (const { step, ms } of this.#ended) if (ms > most) [longest, most] = [step, ms];
    return longest;
  }

  /** The time of each step, for the log: `{ authMs: 0.4, … }`. */
  get steps(): Readonly<Record<string, number>> {
    const current = { step: this.#current, ms: Math.round((performance.now() - this.#since) * 100) / 100 };
    return Object.fromEntries([...this.#ended, current].map(({ step, ms }) => [`${step}Ms`, ms]));
  }

  /** The value of Server-Timing, in milliseconds; '' if it is not shown. */
  get header(): string {
    if (!this.#isShown) return '';
    let header = '';
    for (const { step, ms, rowsRead } of this.#ended) {
      header += `${header === '' ? '' : ', '}${step};dur=${ms}`;
      if (rowsRead > 0) header += `;desc="${rowsRead} rows read"`;
    }
    return header;
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
