import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import type { RequestHandler } from '../http/server/server.ts';
import type { Failing, Fault } from './types.ts';

/** Makes requests fail before they reach the service's own code. */
export class Faults {
  readonly #limit: number;
  readonly #active: ActiveFault[] = [];

  /** `limit`: the requests that a key may make in a window. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(fault: Fault): Failing {
    const active = new ActiveFault(fault);
    this.#active.push(active);
    return active;
  }

  endAll(): void {
    for (const fault of this.#active.splice(0)) fault.end();
  }

  /** Puts the faults in front of a listener. A thrown AppError gets the form of the service's own errors. */
  readonly before =
    (listener: RequestHandler): RequestHandler =>
    async (req, res) => {
      const fault = this.#active.find((each) => each.meets(req));
      if (fault !== undefined) await this.#fail(fault, res);
      await listener(req, res);
    };

  async #fail(active: ActiveFault, res: ServerResponse): Promise<void> {
    const { fault } = active;
    if ('delayMs' in fault) return active.delay(fault.delayMs);
    const retryAfterSeconds = fault.retryAfterSeconds ?? 1;
    if (fault.status === 503) {
      throw new AppError(fault.code ?? 'store_unavailable', 'A test asked for this fault.', {
        retryAfterSeconds,
      });
    }
    res.setHeader('X-RateLimit-Limit', this.#limit);
    res.setHeader('X-RateLimit-Remaining', 0);
    res.setHeader('X-RateLimit-Reset', retryAfterSeconds);
    throw new AppError('rate_limited', 'A test asked for this fault.', { retryAfterSeconds });
  }
}

class ActiveFault implements Failing {
  readonly fault: Fault;
  readonly #ended = new AbortController();
  #hits = 0;

  constructor(fault: Fault) {
    this.fault = fault;
  }

  get hits(): number {
    return this.#hits;
  }

  end(): void {
    this.#ended.abort();
  }

  /** True, and counted, if the request fails by this fault. */
  meets({ url = '' }: IncomingMessage): boolean {
    const { path = '', times = Number.POSITIVE_INFINITY } = this.fault;
    if (this.#ended.signal.aborted || this.#hits >= times || !url.startsWith(path)) return false;
    this.#hits++;
    return true;
  }

  /** Resolves after this time, or at the end of the fault. */
  async delay(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#ended.signal }).catch(() => undefined);
  }
}
