import { type RequestListener, Server, type ServerOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Turns of the event loop in which a server that ends still takes connections: a system hands them over one by one, and resets
 * those that it still has when nobody listens any more.
 */
const LAST_TURNS = 20;
const TURN_MS = 5;
const IDLE_MS = 50;
/** How long the end waits for what has begun. */
const FINISH_MS = 20_000;

/** A server that can end without losing a request. */
export class FinishingServer extends Server {
  #underWay = 0;

  constructor(options: ServerOptions, listener: RequestListener) {
    super(options, listener);
    for (const event of ['request', 'checkExpectation'] as const) {
      this.on(event, (_req, res) => {
        this.#underWay++;
        res.once('close', () => this.#underWay--);
      });
    }
  }

  /** Node takes a connection for idle as soon as its answer is written, though not all of it has left. */
  override closeIdleConnections(): void {
    if (this.#underWay === 0) super.closeIdleConnections();
  }

  /** Stops to listen and resolves when every request that has begun is answered, at the latest after 20 s. */
  async finish(): Promise<void> {
    if (!this.listening) return;
    for (let turn = 0; turn < LAST_TURNS; turn++) await sleep(TURN_MS);
    await new Promise<void>((resolve) => {
      // A connection whose last request has just been answered is idle only now.
      const idle = setInterval(() => this.closeIdleConnections(), IDLE_MS);
      const deadline = setTimeout(() => this.closeAllConnections(), FINISH_MS);
      this.close(() => {
        clearInterval(idle);
        clearTimeout(deadline);
        resolve();
      });
    });
  }
}
