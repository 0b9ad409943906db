import { wait } from './abort.ts';
import { type ClientError, isHopeless } from './errors.ts';
import { pauseAfter } from './send.ts';
import type { StreamOptions } from './types.ts';

/** The one policy of `live` and `poll`: goes on until it is told to stop, or no attempt can succeed. */
export class Outages {
  readonly #tell: NonNullable<StreamOptions['onConnection']>;
  readonly #giveUpAfterMs: number;
  #isConnected: boolean | undefined;
  #failures = 0;
  #since = { date: new Date(0), ms: 0 };

  constructor({ onConnection, giveUpAfterMs = Number.POSITIVE_INFINITY }: StreamOptions) {
    this.#tell = onConnection ?? (() => undefined);
    this.#giveUpAfterMs = giveUpAfterMs;
  }

  /** The next failure is the first one of another outage. */
  worked(): void {
    this.#failures = 0;
  }

  /** There is a connection. It may end before it brings anything. */
  connected(): void {
    if (this.#isConnected === true) return;
    this.#isConnected = true;
    this.#tell({ isConnected: true });
  }

  /** Resolves when it is time for another attempt. Throws the error if none is to follow. */
  async failed(error: unknown, signal: AbortSignal): Promise<void> {
    if (isHopeless(error)) throw error;
    const failure = error as ClientError;
    if (this.#failures === 0) this.#since = { date: new Date(), ms: performance.now() };
    const waitMs = pauseAfter(failure, this.#failures);
    this.#failures++;
    this.#isConnected = false;
    const { date, ms } = this.#since;
    if (performance.now() - ms + waitMs > this.#giveUpAfterMs) throw error;
    this.#tell({ isConnected: false, since: date, failures: this.#failures, error: failure, waitMs });
    await wait(waitMs, signal);
  }
}
