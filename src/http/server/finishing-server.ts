import { type RequestListener, Server, type ServerOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A server that ends still accepts connections, until none has come for this many turns of the event loop. The system
 * hands waiting connections over one by one, and resets the rest when the server stops listening.
 */
const QUIET_TURNS = 20;
const TURN_MS = 5;
/** The longest that it still accepts connections. */
const ACCEPT_MS = 2_000;
const IDLE_MS = 50;
/** The longest that the end waits for requests that have begun. */
const FINISH_MS = 20_000;

/** A server that ends without losing a request. */
export class FinishingServer extends Server {
  #accepted = 0;
  #underWay = 0;

  constructor(options: ServerOptions, listener: RequestListener) {
    super(options, listener);
    this.on('connection', () => this.#accepted++);
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
      this.on(event, (_req, res) => {
        this.#underWay++;
        res.once('close', () => this.#underWay--);
      });
    }
  }

  /**
   * Closes idle connections, but none while a request is underway. To Node a connection is idle as soon as
   * its answer is written, although part of it may not have been sent yet.
   */
  override closeIdleConnections(): void {
    if (this.#underWay === 0) super.closeIdleConnections();
  }

  /** Stops listening. Resolves when every request that has begun is answered, after 22 s at the latest. */
  async finish(): Promise<void> {
    if (!this.listening) return;
    await this.#acceptWaiting();
    await new Promise<void>((resolve) => {
      // A connection becomes idle only after its last answer, so idle ones are closed again and again.
      const idle = setInterval(() => this.closeIdleConnections(), IDLE_MS);
      const deadline = setTimeout(() => this.closeAllConnections(), FINISH_MS);
      this.close(() => {
        clearInterval(idle);
        clearTimeout(deadline);
        resolve();
      });
    });
  }

  /** Accepts the connections that wait in the queue of the system. */
  async #acceptWaiting(): Promise<void> {
    const end = performance.now() + ACCEPT_MS;
    for (let quiet = 0; quiet < QUIET_TURNS && performance.now() < end; ) {
      const before = this.#accepted;
      await sleep(TURN_MS);
      quiet = this.#accepted === before ? quiet + 1 : 0;
    }
  }
}
